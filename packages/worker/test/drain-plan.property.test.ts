import type { DrainTimings } from "@leasehold/deployment-contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advanceDrain, beginDrain, type DrainState, phasesMs, signalDrain } from "../drain-plan.ts";

const ORDER = ["draining", "aborting", "releasing", "flushing", "exited"];
const timings: DrainTimings = {
  drainMs: 8_000,
  abortMs: 1_000,
  releaseMs: 2_000,
  flushMs: 1_000,
  killAfterMs: 14_000,
  exitAfterMs: 13_500,
  taperAfterMs: 16_000,
};

/** One step of a history: time passes, then a signal comes or work has changed. */
const step = fc.record({
  afterMs: fc.integer({ min: 0, max: 3_000 }),
  what: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom("SIGTERM", "SIGINT", "SIGQUIT") },
    {
      weight: 3,
      arbitrary: fc.record({
        held: fc.integer({ min: 0, max: 3 }),
        openPolls: fc.integer({ min: 0, max: 2 }),
        unflushed: fc.boolean(),
      }),
    },
  ),
});

interface Seen {
  readonly state: DrainState;
  readonly nowMs: number;
}

function replay(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) {
  let nowMs = 0;
  const seen: Seen[] = [{ state: beginDrain(0, timings), nowMs }];
  for (const { afterMs, what } of steps) {
    nowMs += afterMs;
    const { state } = seen.at(-1) as Seen;
    const next =
      typeof what === "string"
        ? signalDrain(state, what, nowMs, timings).state
        : advanceDrain(state, nowMs, what);
    seen.push({ state: next, nowMs });
  }
  return seen;
}

const histories = fc.array(step, { maxLength: 25 }).map(replay);
const rank = ({ state }: Seen) => ORDER.indexOf(state.phase);

describe("a drain, over every history", () => {
  test("never goes back a phase", () => {
    fc.assert(
      fc.property(histories, (seen) => {
        for (const [index, now] of seen.entries()) {
          if (index > 0) expect(rank(now)).toBeGreaterThanOrEqual(rank(seen[index - 1] as Seen));
        }
      }),
    );
  });

  test("never moves a deadline later, and never the kill", () => {
    fc.assert(
      fc.property(histories, (seen) => {
        for (const [index, { state }] of seen.entries()) {
          if (index === 0) continue;
          const before = (seen[index - 1] as Seen).state.deadlines;
          expect(state.deadlines.drainByMs).toBeLessThanOrEqual(before.drainByMs);
          expect(state.deadlines.abortByMs).toBeLessThanOrEqual(before.abortByMs);
          expect(state.deadlines.releaseByMs).toBeLessThanOrEqual(before.releaseByMs);
          expect(state.deadlines.flushByMs).toBeLessThanOrEqual(before.flushByMs);
          expect(state.deadlines.killAtMs).toBe(14_000);
        }
      }),
    );
  });

  test("keeps its deadlines in order, all before the kill", () => {
    fc.assert(
      fc.property(histories, (seen) => {
        for (const { state } of seen) {
          const { drainByMs, abortByMs, releaseByMs, flushByMs, exitAtMs } = state.deadlines;
          expect([drainByMs, abortByMs, releaseByMs, flushByMs, exitAtMs]).toEqual(
            [drainByMs, abortByMs, releaseByMs, flushByMs, exitAtMs].toSorted((a, b) => a - b),
          );
        }
      }),
    );
  });

  test("accounts for all of its time", () => {
    fc.assert(
      fc.property(histories, (seen) => {
        const { state, nowMs } = seen.at(-1) as Seen;
        const spent = Object.values(phasesMs(state, nowMs)).reduce((sum, ms) => sum + ms, 0);
        expect(spent).toBe(state.enteredAtMs.exited ?? nowMs);
      }),
    );
  });

  test("the histories reach every phase and every rung (the generator is not vacuous)", () => {
    const seen = fc.sample(histories, 500).flat();
    expect([...new Set(seen.map(({ state }) => state.phase))].sort()).toEqual([...ORDER].sort());
    expect([...new Set(seen.map(({ state }) => state.rungs))].sort()).toEqual([0, 1, 2, 3, 4]);
  });
});
