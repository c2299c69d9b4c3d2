import { describe, expect, test } from "vitest";
import type { ResultStore } from "../index.ts";
import { effectOf, job, setup, TestLease, thrownBy } from "./ledger-setup.ts";

const big = { text: "x".repeat(5_000) };

class Texts implements ResultStore {
  readonly texts = new Map<string, string>();
  failures = 0;
  async put(name: string, text: string) {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("503");
    }
    this.texts.set(name, text);
  }
  async get(name: string) {
    return this.texts.get(name);
  }
}

/** One run of an effect with this result, and what a later run is given. */
async function twice(result: unknown, results?: Texts) {
  const world = setup(results === undefined ? {} : { results });
  const { job: opened } = await world.open();
  const asked = opened.once(
    "charge",
    7,
    effectOf(() => result),
  );
  await world.clock.advance(10_000);
  const first = await asked;
  const stored = (await world.store.inner.read(job))?.effects["charge"];
  await opened.end({ kind: "failed" });
  const again = effectOf(() => "run again");
  const next = await world.open({ receiveCount: 2 }, new TestLease());
  const second = next.job.once("charge", 7, again);
  return { ...world, first, second, stored, again };
}

describe("the result of an effect", () => {
  test.each([[undefined], [null], [0], [""], [{ a: [1, "€"] }]])(
    "is the same in a later run: %j",
    async (result) => {
      const { first, second } = await twice(result);
      expect(first).toEqual(result);
      expect(await second).toEqual(result);
    },
  );

  test("of more than 4 KB lies in the result store, put there before it counts as done", async () => {
    const results = new Texts();
    const { first, second, stored } = await twice(big, results);
    expect(stored?.result).toMatchObject({ kind: "reference" });
    expect(results.texts.size).toBe(1);
    expect([first, await second]).toEqual([big, big]);
  });

  test("is tried some more when the result store is busy", async () => {
    const results = new Texts();
    results.failures = 3;
    expect(await (await twice(big, results)).second).toEqual(big);
  });

  test("that cannot be kept is dropped, and the effect is done: it is never run again", async () => {
    const broken = new Texts();
    broken.failures = 99;
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    for (const [result, results] of [
      [big, undefined],
      [big, broken],
      [circle, undefined],
      [() => "no JSON", undefined],
    ] as const) {
      const { first, second, stored, again, kinds } = await twice(result, results);
      expect(first).toEqual(result);
      expect(stored).toMatchObject({ state: "done", result: { kind: "dropped" } });
      expect(await thrownBy(second)).toMatchObject({ code: "EFFECT_RESULT_MISSING" });
      expect(again.calls).toEqual([]);
      expect(kinds()).toContain("effect.result-dropped");
    }
  });

  test("is dropped when pick throws, and the effect is done", async () => {
    const { open, store } = setup();
    const { job: opened } = await open();
    const effect = effectOf(() => 1, {
      pick: () => {
        throw new Error("no such field");
      },
    });
    expect(await opened.once("charge", 7, effect)).toBeUndefined();
    expect((await store.inner.read(job))?.effects["charge"]).toMatchObject({ state: "done" });
  });
});

describe("a checkpoint", () => {
  test("is refused above 4 KB and when JSON cannot carry it, and the job goes on", async () => {
    const { open } = setup();
    const { job: opened } = await open({ checkpoints: true });
    await expect(opened.checkpoint.save(big)).rejects.toThrow("at most 4096 bytes, got 5011");
    await expect(opened.checkpoint.save(1n)).rejects.toThrow("cannot be written as JSON");
    await opened.checkpoint.save({ page: 1 });
    expect(opened.checkpoint.load()).toEqual({ page: 1 });
  });

  test("cannot be read by a type that does not say so, because it was not loaded", async () => {
    const { open } = setup();
    const { job: opened } = await open();
    expect(() => opened.checkpoint.load()).toThrow("must say checkpoints: true");
  });

  test("ends the run when the store is down", async () => {
    const { open, store, clock } = setup();
    const { job: opened } = await open({ checkpoints: true });
    store.fault = () => "refused";
    const asked = thrownBy(opened.checkpoint.save(1));
    await clock.advance(5_000);
    expect(await asked).toMatchObject({ outcome: { kind: "store-down" } });
  });
});
