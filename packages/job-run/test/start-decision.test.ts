import type { AttemptHistory } from "@leasehold/job";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { historyByReceives, receiveBudgets } from "../receive-count-ledger.ts";
import { decideStart, NO_BUDGETS, type StartFacts } from "../start-decision.ts";

const NEW: AttemptHistory = { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 };
const budgets = { failures: 5, interruptions: 10, crashes: 3 };

/** How a job starts, in one word. */
function decide(history: Partial<AttemptHistory>, changes: Partial<StartFacts> = {}): string {
  const facts = { history: { ...NEW, ...history }, budgets, canDeadLetter: true, ...changes };
  const start = decideStart(facts);
  return start.kind === "give-up" ? `give up: ${start.reason.code}` : start.kind;
}

describe("a job", () => {
  test.each<[string, Partial<AttemptHistory>, string]>([
    ["that is new runs", {}, "run"],
    [
      "that failed and was put off runs, its failures are judged when they come",
      { failures: 9, putOffs: 99 },
      "run",
    ],
    ["whose worker died twice runs", { crashes: 2 }, "run"],
    ["whose worker died three times runs alone", { crashes: 3 }, "run-alone"],
    ["whose worker died once more is given up", { crashes: 4 }, "give up: killed-its-worker"],
    ["that was interrupted ten times runs", { interruptions: 10 }, "run"],
    [
      "that was interrupted once more is given up",
      { interruptions: 11 },
      "give up: interruptions-exhausted",
    ],
  ])("%s", (_, history, start) => {
    expect(decide(history)).toBe(start);
  });

  test("says why it was given up, and how it came to that", () => {
    const history = { failures: 2, interruptions: 11, crashes: 1, putOffs: 3 };
    expect(decideStart({ history, budgets, canDeadLetter: true })).toEqual({
      kind: "give-up",
      reason: {
        code: "interruptions-exhausted",
        detail: "it was interrupted 11 times without saved progress, at most 10 are borne with",
        counts: { failures: 2, interruptions: 11, crashes: 1, put_offs: 3 },
      },
    });
  });

  test("is never given up where there is no dead-letter queue, but runs alone", () => {
    const changes = { canDeadLetter: false };
    expect(decide({ crashes: 99 }, changes)).toBe("run-alone");
    expect(decide({ interruptions: 99 }, changes)).toBe("run");
  });

  test("with no crash to bear with is given up at the first one, and never runs alone", () => {
    const changes = { budgets: { ...budgets, crashes: 0 } };
    expect(decide({}, changes)).toBe("run");
    expect(decide({ crashes: 1 }, changes)).toBe("give up: killed-its-worker");
  });

  test("is neither suspected nor given up by what was not counted", () => {
    const history = historyByReceives(999);
    expect(decide(history, { budgets: receiveBudgets(15) })).toBe("run");
    expect(decide({ ...history, crashes: 99 }, { budgets: NO_BUDGETS })).toBe("run");
  });
});

describe("over every history", () => {
  const upTo = (max: number) => fc.integer({ min: 0, max });
  const facts = fc.record({
    history: fc.record({
      ...{ failures: upTo(10), interruptions: upTo(20), crashes: upTo(6), putOffs: upTo(10) },
    }),
    budgets: fc.record({ failures: upTo(6), interruptions: upTo(12), crashes: upTo(4) }),
    canDeadLetter: fc.boolean(),
  });

  test("failures and put-offs alone never keep a job from running", () => {
    fc.assert(
      fc.property(facts, (given) => {
        const history = {
          ...NEW,
          failures: given.history.failures,
          putOffs: given.history.putOffs,
        };
        expect(decideStart({ ...given, history }).kind).toBe("run");
      }),
    );
  });

  test("one crash more never makes a start less careful", () => {
    const care = { run: 0, "run-alone": 1, "give-up": 2 };
    fc.assert(
      fc.property(facts, (given) => {
        const history = { ...given.history, crashes: given.history.crashes + 1 };
        const [before, after] = [decideStart(given), decideStart({ ...given, history })];
        expect(care[after.kind]).toBeGreaterThanOrEqual(care[before.kind]);
      }),
    );
  });

  test("a job is given up only for what is over its budget", () => {
    fc.assert(
      fc.property(facts, ({ history, budgets: given, canDeadLetter }) => {
        const start = decideStart({ history, budgets: given, canDeadLetter });
        if (start.kind !== "give-up") return;
        expect(canDeadLetter).toBe(true);
        const isOver =
          history.crashes > given.crashes || history.interruptions > given.interruptions;
        expect(isOver).toBe(true);
      }),
    );
  });

  test("every start comes about (the generator is not vacuous)", () => {
    const seen = fc.sample(facts, 1_000).map((given) => {
      const start = decideStart(given);
      return start.kind === "give-up" ? start.reason.code : start.kind;
    });
    expect([...new Set(seen)].sort()).toEqual([
      "interruptions-exhausted",
      "killed-its-worker",
      "run",
      "run-alone",
    ]);
  });
});
