import {
  type AbortCause,
  JobAbortedError,
  PermanentJobError,
  RetryLaterError,
} from "@leasehold/job";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  attemptEnding,
  type Decision,
  decideEnding,
  type HandlerOutcome,
  type RunFacts,
} from "../job-ending.ts";
import { historyByReceives, receiveBudgets } from "../receive-count-ledger.ts";

const returned: HandlerOutcome = { kind: "returned", saidDone: false };
const done: HandlerOutcome = { kind: "returned", saidDone: true };
const threw = (thrown: unknown): HandlerOutcome => ({ kind: "threw", thrown });
const failure = threw(new Error("no printer"));

const FACTS: RunFacts = {
  handler: returned,
  signalWasRead: true,
  history: { failures: 1, interruptions: 0, crashes: 0, putOffs: 0 },
  budgets: { failures: 5, interruptions: 10, crashes: 3 },
  canDeadLetter: true,
  backoff: { baseMs: 5_000, capMs: 900_000 },
  random: 0.5,
};

/** Outcome and ending in one word. */
function decide(changes: Partial<RunFacts>): string {
  const { outcome, ending } = decideEnding({ ...FACTS, ...changes });
  return `${outcome}: ${wordOf(ending)}`;
}

function wordOf(ending: Decision["ending"]): string {
  switch (ending.kind) {
    case "ack":
      return "ack";
    case "retry":
      return `retry in ${ending.delayMs}`;
    case "dead-letter":
      return `dead-letter ${ending.reason.code}`;
    case "release":
      return `release ${ending.class} in ${ending.delayMs}`;
    case "let-go":
      return `let go: ${ending.code}`;
  }
}

describe("without an abort", () => {
  test.each<[string, HandlerOutcome, string]>([
    ["a return acks", returned, "succeeded: ack"],
    ["done acks", done, "succeeded: ack"],
    ["a throw is tried again", failure, "failed: retry in 5000"],
    ["a throw of nothing, too", threw(undefined), "failed: retry in 5000"],
    ["retry later comes then", threw(new RetryLaterError(42_000)), "retry-later: retry in 42000"],
    [
      "retry later at no time fails",
      threw(new RetryLaterError(Number.NaN)),
      "failed: retry in 5000",
    ],
    [
      "retry later whose delay cannot be read fails",
      threw({
        code: "RETRY_LATER",
        get delayMs() {
          throw new Error("no");
        },
      }),
      "failed: retry in 5000",
    ],
    [
      "a permanent error is dead-lettered",
      threw(new PermanentJobError("no such customer")),
      "dead-lettered: dead-letter permanent",
    ],
    [
      "a permanent error of another copy of the package, too",
      threw({ code: "PERMANENT_JOB_FAILURE", message: "x" }),
      "dead-lettered: dead-letter permanent",
    ],
  ])("%s", (_, handler, ending) => {
    expect(decide({ handler })).toBe(ending);
  });

  test("the last attempt dead-letters, and says what it died of", () => {
    const history = { failures: 4, interruptions: 7, crashes: 1, putOffs: 2 };
    const { ending } = decideEnding({ ...FACTS, handler: failure, history });
    expect(ending).toEqual({
      kind: "dead-letter",
      reason: {
        code: "attempts-exhausted",
        detail: "attempt 5 of 5 failed: no printer",
        counts: { failures: 5, interruptions: 7, crashes: 1, put_offs: 2 },
      },
    });
  });

  test("a failure that is excused uses up no attempt, not even the last one", () => {
    const history = { failures: 4, interruptions: 0, crashes: 0, putOffs: 0 };
    const excused = { handler: failure, history, isExcused: true };
    expect(decide(excused)).toBe("failed: retry in 20000");
    const budgets = { ...FACTS.budgets, failures: 1 };
    const unused = { ...history, failures: 0 };
    expect(decide({ ...excused, history: unused, budgets })).toBe("failed: retry in 2500");
  });

  test("counts that nobody counted are not told", () => {
    const { ending } = decideEnding({
      ...FACTS,
      handler: failure,
      history: historyByReceives(15),
      budgets: receiveBudgets(15),
    });
    expect(ending).toEqual({
      kind: "dead-letter",
      reason: { code: "attempts-exhausted", detail: "attempt 15 of 15 failed: no printer" },
    });
  });

  test("only failures are attempts: however often it was stopped or put off, it is tried again", () => {
    const history = { failures: 0, interruptions: 900, crashes: 900, putOffs: 900 };
    expect(decide({ handler: failure, history })).toBe("failed: retry in 2500");
  });

  test("who asks to come back at once waits longer each time, a minute at most", () => {
    const delays = [0, 1, 2, 5, 6, 100].map((putOffs) => {
      const history = { ...FACTS.history, putOffs };
      return decide({ handler: threw(new RetryLaterError(0)), history });
    });
    expect(delays).toEqual([
      "retry-later: retry in 1000",
      "retry-later: retry in 2000",
      "retry-later: retry in 4000",
      "retry-later: retry in 32000",
      "retry-later: retry in 60000",
      "retry-later: retry in 60000",
    ]);
  });

  test("who asks for more gets what it asked for", () => {
    const history = { ...FACTS.history, putOffs: 100 };
    const handler = threw(new RetryLaterError(7_200_000));
    expect(decide({ handler, history })).toBe("retry-later: retry in 7200000");
  });

  test("nothing vanishes where there is no dead-letter queue: it waits longer and longer", () => {
    const changes = { canDeadLetter: false, history: { ...FACTS.history, failures: 8 } };
    expect(decide({ ...changes, handler: failure })).toBe("failed: retry in 450000");
    expect(decide({ ...changes, handler: threw(new PermanentJobError("x")) })).toBe(
      "failed: retry in 900000",
    );
  });
});

describe("after an abort", () => {
  const permanent = threw(new PermanentJobError("x"));
  const aborted = threw(new JobAbortedError("drain-deadline"));
  test.each<[AbortCause, string, HandlerOutcome, string]>([
    ["drain-deadline", "a quiet return", returned, "interrupted: release ended in 0"],
    ["drain-deadline", "done", done, "succeeded: ack"],
    ["drain-deadline", "the abort passed on", aborted, "interrupted: release ended in 0"],
    ["drain-deadline", "another throw", failure, "interrupted: release failed in 5000"],
    [
      "drain-deadline",
      "retry later",
      threw(new RetryLaterError(9_000)),
      "interrupted: release ended in 9000",
    ],
    ["drain-deadline", "a permanent error", permanent, "dead-lettered: dead-letter permanent"],
    ["job-timeout", "a quiet return", returned, "failed: retry in 5000"],
    ["job-timeout", "done", done, "succeeded: ack"],
    ["job-timeout", "the abort passed on", aborted, "failed: retry in 5000"],
    ["job-timeout", "a throw", failure, "failed: retry in 5000"],
    ["hold-limit", "a quiet return", returned, "interrupted: release hold-limit in 0"],
    ["hold-limit", "the abort passed on", aborted, "interrupted: release hold-limit in 0"],
    ["lease-lost", "a return", returned, "lease-lost: release ended in 0"],
    ["lease-lost", "done", done, "lease-lost: release ended in 0"],
    ["lease-lost", "a throw", failure, "lease-lost: release ended in 0"],
    ["lease-lost", "a permanent error", permanent, "lease-lost: release ended in 0"],
  ])("by %s, %s", (abortCause, _, handler, ending) => {
    expect(decide({ abortCause, handler })).toBe(ending);
  });

  test("a return acks when the handler never looked at its signal", () => {
    const changes = { abortCause: "drain-deadline", signalWasRead: false } as const;
    expect(decide(changes)).toBe("succeeded: ack");
    expect(decide({ ...changes, abortCause: "job-timeout" })).toBe("succeeded: ack");
    expect(decide({ ...changes, abortCause: "lease-lost" })).toContain("lease-lost");
  });

  test("the last attempt that takes too long is dead-lettered for that", () => {
    const { ending } = decideEnding({
      ...FACTS,
      abortCause: "job-timeout",
      history: { ...FACTS.history, failures: 4 },
    });
    expect(ending).toMatchObject({
      reason: { detail: "attempt 5 of 5 failed: it took longer than its limit" },
    });
  });

  test("an interruption is released, however often it came: the next start judges it", () => {
    const history = { ...FACTS.history, failures: 1_000, interruptions: 1_000 };
    expect(decide({ abortCause: "drain-deadline", history })).toBe(
      "interrupted: release ended in 0",
    );
  });
});

describe("over every run", () => {
  const outcomes = fc.oneof(
    fc.record({ kind: fc.constant("returned" as const), saidDone: fc.boolean() }),
    fc.record({
      kind: fc.constant("threw" as const),
      thrown: fc.oneof(
        fc.anything(),
        fc.constant(new Error("x")),
        fc.constant(new PermanentJobError("x")),
        fc.constant(new RetryLaterError(1_000)),
      ),
    }),
  );
  const causes = fc.constantFrom<AbortCause | undefined>(
    undefined,
    "lease-lost",
    "drain-deadline",
    "job-timeout",
    "hold-limit",
  );
  const upTo = (max: number) => fc.integer({ min: 0, max });
  const histories = fc.record({
    failures: upTo(10),
    interruptions: upTo(20),
    crashes: upTo(6),
    putOffs: upTo(10),
  });
  const runs = fc
    .record({
      handler: outcomes,
      abortCause: causes,
      signalWasRead: fc.boolean(),
      history: histories,
      canDeadLetter: fc.boolean(),
    })
    .map(
      ({ abortCause, ...facts }): RunFacts => ({
        ...FACTS,
        ...facts,
        ...(abortCause === undefined ? {} : { abortCause }),
      }),
    );

  test("a throw is never acked, and a lost lease never settled", () => {
    fc.assert(
      fc.property(runs, (facts) => {
        const { ending, outcome } = decideEnding(facts);
        if (facts.handler.kind === "threw") expect(ending.kind).not.toBe("ack");
        if (facts.abortCause === "lease-lost") expect(outcome).toBe("lease-lost");
        if (!facts.canDeadLetter) expect(ending.kind).not.toBe("dead-letter");
      }),
    );
  });

  test("the ledger is told of a failure only when there was one", () => {
    fc.assert(
      fc.property(runs, (facts) => {
        const { outcome, ending } = decideEnding(facts);
        const told = attemptEnding({ outcome, ending }).kind;
        const hasThrown = facts.handler.kind === "threw";
        const mayFail = hasThrown || facts.abortCause === "job-timeout";
        const isCutShort =
          facts.abortCause === "drain-deadline" || facts.abortCause === "hold-limit";
        if (told === "failed") expect(mayFail).toBe(true);
        if (told === "failed" && facts.canDeadLetter) expect(isCutShort).toBe(false);
        if (told === "given-up") expect(facts.canDeadLetter).toBe(true);
        if (told === "uncounted") expect(facts.abortCause).toBe("lease-lost");
        if (told === "succeeded") expect(ending.kind).toBe("ack");
      }),
    );
  });

  test("the ledger is told all that it has words for (the generator is not vacuous)", () => {
    const told = fc.sample(runs, 1_000).map((facts) => {
      const { outcome, ending } = decideEnding(facts);
      return attemptEnding({ outcome, ending }).kind;
    });
    expect([...new Set(told)].sort()).toEqual([
      "failed",
      "given-up",
      "interrupted",
      "put-off",
      "succeeded",
      "uncounted",
    ]);
  });

  test("every outcome comes about (the generator is not vacuous)", () => {
    const seen = new Set(fc.sample(runs, 1_000).map((facts) => decideEnding(facts).outcome));
    expect([...seen].sort()).toEqual([
      "dead-lettered",
      "failed",
      "interrupted",
      "lease-lost",
      "retry-later",
      "succeeded",
    ]);
  });
});
