import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FaultCandidate, type FaultPlan, type FaultRule, faultFor } from "../fault-plan.ts";

const action = fc.constantFrom("ReceiveMessage", "DeleteMessageBatch", "SendMessage");
const queue = fc.constantFrom("jobs", "dead", undefined);
const candidate: fc.Arbitrary<FaultCandidate> = fc.record({
  action,
  queue,
  nth: fc.integer({ min: 1, max: 20 }),
});
const fault = fc.constantFrom(
  { kind: "hung" } as const,
  { kind: "lost-reply" } as const,
  { kind: "reset", side: "before" } as const,
);
const rule: fc.Arbitrary<FaultRule> = fc.record(
  {
    fault,
    actions: fc.uniqueArray(action, { minLength: 1, maxLength: 3 }),
    queues: fc.uniqueArray(fc.constantFrom("jobs", "dead"), { minLength: 1, maxLength: 2 }),
    nth: fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 4, maxLength: 16 }),
    chance: fc.constantFrom(0, 0.3, 0.7, 1),
  },
  { requiredKeys: ["fault"] },
);
const plan: fc.Arbitrary<FaultPlan> = fc.record({
  rules: fc.array(rule, { maxLength: 6, size: "max" }),
  seed: fc.integer({ min: 0, max: 1_000 }),
});

describe("the fault of a request, over every plan", () => {
  test("stays the same however often and in whichever order requests are asked about", () => {
    fc.assert(
      fc.property(plan, fc.array(candidate, { maxLength: 30 }), (some, candidates) => {
        const forth = candidates.map((one) => faultFor(some, one));
        const back = candidates.toReversed().map((one) => faultFor(some, one));
        expect(back.toReversed()).toEqual(forth);
      }),
    );
  });

  test("comes from a rule whose every condition holds", () => {
    fc.assert(
      fc.property(plan, candidate, (some, one) => {
        const met = faultFor(some, one);
        if (met === undefined) return;
        const possible = some.rules.filter(
          ({ actions, queues, nth, chance }) =>
            (actions === undefined || actions.includes(one.action)) &&
            (queues === undefined || queues.some((name) => name === one.queue)) &&
            (nth === undefined || nth.includes(one.nth)) &&
            chance !== 0,
        );
        expect(possible.map((each) => each.fault)).toContain(met);
      }),
    );
  });

  test("is that of the first rule that must fit", () => {
    fc.assert(
      fc.property(plan, candidate, fault, (some, one, certain) => {
        const always: FaultRule = { fault: certain };
        expect(faultFor({ ...some, rules: [always, ...some.rules] }, one)).toBe(certain);
        const last = faultFor({ ...some, rules: [...some.rules, always] }, one);
        expect(last).toBe(faultFor(some, one) ?? certain);
      }),
    );
  });

  test("by chance meets about as many as the chance says, and others with another seed", () => {
    const met = (seed: number) =>
      Array.from({ length: 2_000 }, (_, index) =>
        faultFor(
          { seed, rules: [{ fault: { kind: "hung" }, chance: 0.3 }] },
          { action: "SendMessage", queue: "jobs", nth: index + 1 },
        ),
      ).map((one) => one !== undefined);
    for (const seed of [1, 2, 3]) {
      const share = met(seed).filter(Boolean).length / 2_000;
      expect(share).toBeGreaterThan(0.27);
      expect(share).toBeLessThan(0.33);
    }
    expect(met(1)).not.toEqual(met(2));
  });

  test("the plans reach requests that pass and every kind of fault (the generator is not vacuous)", () => {
    const kinds = fc
      .sample(fc.tuple(plan, candidate), 1_000)
      .map(([some, one]) => faultFor(some, one)?.kind ?? "passes");
    expect([...new Set(kinds)].sort()).toEqual(["hung", "lost-reply", "passes", "reset"]);
    expect(kinds.filter((kind) => kind !== "passes").length).toBeGreaterThan(100);
  });
});
