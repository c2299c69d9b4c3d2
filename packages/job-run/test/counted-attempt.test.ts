import { ManualClock } from "@leasehold/clock/manual";
import {
  type AttemptHistory,
  type AttemptLedger,
  type AttemptOpening,
  type JobEndingNote,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { Attempt } from "../attempt.ts";
import { countAttempt } from "../counted-attempt.ts";

const HISTORY: AttemptHistory = { failures: 4, interruptions: 2, crashes: 1, putOffs: 0 };
const BUDGETS = { failures: 5, interruptions: 10, crashes: 3 };

function setup(open: AttemptLedger["open"]) {
  const clock = new ManualClock();
  const reported: string[] = [];
  const delivery = {
    job: {
      tenantId: parseTenantId("acme"),
      jobId: parseJobId("job-1"),
      jobType: parseJobType("test.work"),
    },
    messageId: "m-1",
    receiveCount: 7,
  };
  const attempt = countAttempt(delivery, {
    ledger: { open },
    budgets: BUDGETS,
    timeoutMs: 2_000,
    clock,
    onUncounted: (during, error) => reported.push(`${during}: ${(error as Error).message}`),
  }) as Promise<Attempt> | Attempt;
  return { clock, reported, attempt };
}

/** What a ledger answers, and what it is told. */
function opening(end: (ending: JobEndingNote) => Promise<void> | undefined = () => undefined) {
  return { kind: "open", history: HISTORY, end } satisfies AttemptOpening;
}

describe("an attempt", () => {
  test("is there at once when the ledger has nothing to ask", () => {
    const told: string[] = [];
    const { attempt, clock } = setup(() =>
      opening(({ kind }) => {
        told.push(kind);
        return undefined;
      }),
    );
    expect(attempt).toMatchObject({ history: HISTORY, budgets: BUDGETS, number: 5 });
    expect((attempt as Attempt).end({ kind: "failed" })).toBeUndefined();
    expect([told, clock.pendingTimers]).toEqual([["failed"], 0]);
  });

  test("leaves no timer behind once the ledger has answered", async () => {
    const { attempt, clock, reported } = setup(async () => opening(() => Promise.resolve()));
    await (await attempt).end({ kind: "failed" });
    expect([clock.pendingTimers, reported]).toEqual([0, []]);
  });

  test("goes by receives and exhausts nothing when the ledger does not answer in time", async () => {
    const { attempt, clock, reported } = setup(() => new Promise(() => {}));
    await clock.advance(1_999);
    expect(reported).toEqual([]);
    await clock.advance(1);
    const { history, budgets, number } = await attempt;
    expect(reported).toEqual(["open: the ledger did not answer within 2000 ms"]);
    expect([number, history.isEstimate]).toEqual([7, true]);
    expect(Object.values(budgets)).toEqual(Array(3).fill(Number.POSITIVE_INFINITY));
  });

  test.each<[string, AttemptLedger["open"]]>([
    ["rejects", () => Promise.reject(new Error("no table"))],
    [
      "throws",
      () => {
        throw new Error("no table");
      },
    ],
  ])("goes by receives when the ledger %s", async (_, open) => {
    const { attempt, reported } = setup(open);
    expect((await attempt).number).toBe(7);
    expect(reported).toEqual(["open: no table"]);
    expect((await attempt).end({ kind: "failed" })).toBeUndefined();
    expect(reported).toHaveLength(1);
  });

  test("ends in the ledger although its opening was answered too late, or it would stand as a crash", async () => {
    const { promise, resolve } = Promise.withResolvers<AttemptOpening>();
    const told: string[] = [];
    const { attempt, clock } = setup(() => promise);
    await clock.advance(2_000);
    (await attempt).end({ kind: "interrupted" });
    resolve(
      opening(({ kind }) => {
        told.push(kind);
        return undefined;
      }),
    );
    await clock.settle();
    expect(told).toEqual(["interrupted"]);
  });

  test("is reported when its end cannot be written, and waits for that no longer than it may", async () => {
    const { attempt, clock, reported } = setup(() => opening(() => new Promise(() => {})));
    const ended = (await attempt).end({ kind: "failed" });
    await clock.advance(2_000);
    await ended;
    expect(reported).toEqual(["end: the ledger did not answer within 2000 ms"]);
  });

  test("is reported when the ledger refuses its end", async () => {
    const { attempt, reported } = setup(() => opening(() => Promise.reject(new Error("no"))));
    await (await attempt).end({ kind: "failed" });
    expect(reported).toEqual(["end: no"]);
  });
});
