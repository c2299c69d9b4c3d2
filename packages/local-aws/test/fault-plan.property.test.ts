import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Fault,
  type FaultCandidate,
  type FaultPlan,
  type FaultRule,
  FaultSchedule,
} from "../fault-plan.ts";

const action = fc.constantFrom("ChangeMessageVisibilityBatch", "DeleteMessageBatch", "PutItem");
const seconds = fc.constantFrom(0, 10, 17);
const candidate: fc.Arbitrary<FaultCandidate> = fc.record({
  action,
  resource: fc.constantFrom("jobs", "dead", undefined),
  entries: fc.array(
    fc.record({ id: fc.string(), visibilityTimeoutSeconds: seconds }, { requiredKeys: [] }),
    { maxLength: 2 },
  ),
});
const candidates = fc.array(candidate, { maxLength: 30, size: "max" });
const fault: fc.Arbitrary<Fault> = fc.constantFrom(
  { kind: "hung" } as const,
  { kind: "lost-reply" } as const,
  { kind: "reset", side: "before" } as const,
  { kind: "failed-entries" } as const,
);
const rule: fc.Arbitrary<FaultRule> = fc.record(
  {
    fault,
    actions: fc.uniqueArray(action, { minLength: 1, maxLength: 3 }),
    resources: fc.uniqueArray(fc.constantFrom("jobs", "dead"), { minLength: 1, maxLength: 2 }),
    visibilityTimeoutsSeconds: fc.uniqueArray(seconds, { minLength: 1, maxLength: 2 }),
    nth: fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 8 }),
    chance: fc.constantFrom(0, 0.3, 0.7, 1),
  },
  { requiredKeys: ["fault"] },
);
const plan: fc.Arbitrary<FaultPlan> = fc.record({
  rules: fc.array(rule, { maxLength: 6, size: "max" }),
  seed: fc.integer({ min: 0, max: 1_000 }),
});

function faultsOf(some: FaultPlan, asked: readonly FaultCandidate[]): (Fault | undefined)[] {
  const schedule = new FaultSchedule(some);
  return asked.map((one) => schedule.next(one).fault);
}

function allows(
  { actions, resources, visibilityTimeoutsSeconds: visibilities, fault: { kind } }: FaultRule,
  one: FaultCandidate,
): boolean {
  const asked = one.entries.map((entry) => entry.visibilityTimeoutSeconds);
  return (
    (actions === undefined || actions.includes(one.action)) &&
    (resources === undefined || resources.some((name) => name === one.resource)) &&
    (visibilities === undefined || visibilities.some((wanted) => asked.includes(wanted))) &&
    (kind !== "failed-entries" || one.entries.some(({ id }) => id !== undefined))
  );
}

describe("the fault of a request, over every plan", () => {
  test("stays the same whatever requests of other actions come in between", () => {
    fc.assert(
      fc.property(plan, candidates, action, (some, asked, chosen) => {
        const isChosen = (one: FaultCandidate) => one.action === chosen;
        const mixed = faultsOf(some, asked).filter((_, index) => isChosen(asked[index] ?? never));
        expect(mixed).toEqual(faultsOf(some, asked.filter(isChosen)));
      }),
    );
  });

  test("comes from a rule whose every condition holds", () => {
    fc.assert(
      fc.property(plan, candidates, (some, asked) => {
        for (const [index, met] of faultsOf(some, asked).entries()) {
          const one = asked[index] ?? never;
          const possible = some.rules.filter((each) => {
            const before = asked.slice(0, index + 1).filter((other) => allows(each, other));
            const place = before.filter((other) => other.action === one.action).length;
            const isMeant = each.nth === undefined || each.nth.includes(place);
            return allows(each, one) && isMeant && each.chance !== 0;
          });
          if (met !== undefined) expect(possible.map((each) => each.fault)).toContain(met);
          else expect(possible.filter(({ chance = 1 }) => chance === 1)).toEqual([]);
        }
      }),
    );
  });

  test("is that of the first rule that must fit", () => {
    fc.assert(
      fc.property(plan, candidates, (some, asked) => {
        const certain = { kind: "throttle" } as const;
        const always: FaultRule = { fault: certain };
        const first = faultsOf({ ...some, rules: [always, ...some.rules] }, asked);
        expect(first).toEqual(asked.map(() => certain));
        const last = faultsOf({ ...some, rules: [...some.rules, always] }, asked);
        expect(last).toEqual(faultsOf(some, asked).map((met) => met ?? certain));
      }),
    );
  });

  test("by chance meets about as many as the chance says, and others with another seed", () => {
    const request = { action: "SendMessage", resource: "jobs", entries: [] };
    const met = (seed: number) =>
      faultsOf(
        { seed, rules: [{ fault: { kind: "hung" }, chance: 0.3 }] },
        Array.from({ length: 2_000 }, () => request),
      ).map((one) => one !== undefined);
    for (const seed of [1, 2, 3]) {
      const share = met(seed).filter(Boolean).length / 2_000;
      expect(share).toBeGreaterThan(0.27);
      expect(share).toBeLessThan(0.33);
    }
    expect(met(1)).not.toEqual(met(2));
    expect(met(1)).toEqual(met(1));
  });

  test("the plans reach requests that pass and every kind of fault (the generator is not vacuous)", () => {
    const kinds = fc
      .sample(fc.tuple(plan, candidates), 500)
      .flatMap(([some, asked]) => faultsOf(some, asked).map((met) => met?.kind ?? "passes"));
    expect([...new Set(kinds)].sort()).toEqual([
      "failed-entries",
      "hung",
      "lost-reply",
      "passes",
      "reset",
    ]);
    for (const kind of new Set(kinds)) {
      expect(kinds.filter((one) => one === kind).length).toBeGreaterThan(100);
    }
  });
});

describe("a rule with a place", () => {
  test("counts only the requests that its other conditions fit", () => {
    const release = { visibilityTimeoutsSeconds: [0], nth: [2] };
    const change = (visibilityTimeoutSeconds: number): FaultCandidate => ({
      action: "ChangeMessageVisibilityBatch",
      resource: "jobs",
      entries: [{ id: "a", visibilityTimeoutSeconds: 17 }, { visibilityTimeoutSeconds }],
    });
    const asked = [10, 0, 10, 0, 0].map(change);
    const hung = { kind: "hung" } as const;

    const met = faultsOf({ rules: [{ fault: hung, ...release }] }, asked);

    expect(met).toEqual([undefined, undefined, undefined, hung, undefined]);
  });
});

/** What no property asks about. */
const never: FaultCandidate = { action: "", resource: undefined, entries: [] };
