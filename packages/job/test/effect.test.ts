import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type Effect,
  NotSentError,
  type Once,
  park,
  query,
  RejectedError,
  replay,
  rerun,
} from "../index.ts";

interface Charge {
  readonly id: string;
  readonly amount: number;
}

const find = async (): Promise<{ kind: "applied"; result: Charge } | { kind: "absent" }> => ({
  kind: "absent",
});

describe("an effect", () => {
  test("has a policy of its own: there is no default", () => {
    expect(replay({ windowMs: 5, after: park() })).toEqual({
      ...{ kind: "replay", windowMs: 5, after: { kind: "park" } },
    });
    expect(query(find)).toEqual({ kind: "query", lookup: find });
    expect(query(find, { settleMs: 7 })).toEqual({ kind: "query", lookup: find, settleMs: 7 });
    expect(rerun()).toEqual({ kind: "rerun" });
    // @ts-expect-error recover is missing
    const without: Effect<Charge> = { timeoutMs: 1, run: async () => ({ id: "", amount: 1 }) };
    expect(without.recover).toBeUndefined();
  });

  test("hands back what is picked of its result, under every policy", async () => {
    const call = async (once: Once) => {
      const run = async (): Promise<Charge> => ({ id: "ch_1", amount: 7 });
      const all = await once("a", 1, { timeoutMs: 1, recover: park(), run });
      expectTypeOf(all).toEqualTypeOf<Charge>();
      const recover = replay<Charge>({ windowMs: 1, after: query(find) });
      const id = await once("b", 1, { timeoutMs: 1, recover, run, pick: (charge) => charge.id });
      expectTypeOf(id).toEqualTypeOf<string>();
      const direct = await once("c", 1, {
        timeoutMs: 1,
        recover: replay({ windowMs: 1, after: park() }),
        run,
        pick: ({ amount }) => ({ amount }),
      });
      expectTypeOf(direct).toEqualTypeOf<{ amount: number }>();
      return [all, id, direct];
    };
    const once: Once = async (_name, _input, { run, pick }) => {
      const result = await run({ key: "", signal: AbortSignal.abort(), epoch: 1, attempt: 1 });
      return pick === undefined ? (result as never) : pick(result);
    };
    expect(await call(once)).toEqual([{ id: "ch_1", amount: 7 }, "ch_1", { amount: 7 }]);
  });
});

describe("what run throws", () => {
  test("says by its code what it means, also across two copies of the package", () => {
    expect(new NotSentError("no route")).toMatchObject({ code: "EFFECT_NOT_SENT" });
    expect(new RejectedError("card_declined")).toMatchObject({
      ...{ code: "EFFECT_REJECTED", reason: "card_declined", message: "card_declined" },
      refusedKey: false,
    });
    const cause = new Error("400");
    const refused = new RejectedError("idempotency_error", "key in use", {
      ...{ refusedKey: true, cause },
    });
    expect(refused).toMatchObject({ message: "key in use", refusedKey: true, cause });
  });
});
