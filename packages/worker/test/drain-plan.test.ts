import type { DrainTimings } from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";
import {
  advanceDrain,
  beginDrain,
  type DrainState,
  ignoredAbortDelayMs,
  openPollDelayMs,
  phasesMs,
  signalDrain,
} from "../drain-plan.ts";

/** The preset `default-30`. */
const timings: DrainTimings = {
  drainMs: 20_000,
  abortMs: 2_000,
  releaseMs: 3_000,
  flushMs: 2_000,
  killAfterMs: 30_000,
  exitAfterMs: 29_500,
  taperAfterMs: 32_000,
};
const BUSY = { held: 1, openPolls: 0, unflushed: true };
const IDLE = { held: 0, openPolls: 1, unflushed: true };

function signalled(times: number, everyMs = 1_500): DrainState {
  let state = beginDrain(1_000, timings);
  for (let nth = 0; nth < times; nth += 1) {
    ({ state } = signalDrain(state, "SIGTERM", 1_000 + nth * everyMs, timings));
  }
  return state;
}

describe("a drain", () => {
  test("fixes every deadline when it begins", () => {
    expect(beginDrain(1_000, timings).deadlines).toEqual({
      startedAtMs: 1_000,
      drainByMs: 21_000,
      abortByMs: 23_000,
      releaseByMs: 26_000,
      flushByMs: 28_000,
      exitAtMs: 30_500,
      killAtMs: 31_000,
      taperAtMs: 33_000,
    });
  });

  test("passes through its phases when handlers ignore everything", () => {
    const phases = [beginDrain(1_000, timings)];
    for (const atMs of [21_000, 23_000, 26_000, 28_000]) {
      phases.push(advanceDrain(phases.at(-1) as DrainState, atMs, BUSY));
    }
    expect(phases.map(({ phase }) => phase)).toEqual([
      "draining",
      "aborting",
      "releasing",
      "flushing",
      "exited",
    ]);
    expect(phasesMs(phases.at(-1) as DrainState, 28_000)).toEqual({
      draining: 20_000,
      aborting: 2_000,
      releasing: 3_000,
      flushing: 2_000,
    });
  });

  test("shows each phase alone even after a block of the event loop", () => {
    const state = advanceDrain(beginDrain(0, timings), 60_000, BUSY);
    expect(state.phase).toBe("aborting");
    expect(advanceDrain(state, 60_000, BUSY).phase).toBe("releasing");
  });

  test("awaits its polls while it drains, and leaves them once it aborts", () => {
    const draining = beginDrain(0, timings);
    expect(advanceDrain(draining, 5_000, IDLE)).toBe(draining);
    const aborting = advanceDrain(draining, 20_000, IDLE);
    expect(advanceDrain(aborting, 20_000, IDLE).phase).toBe("flushing");
  });

  test("is over as soon as nothing is left", () => {
    const done = { held: 0, openPolls: 0, unflushed: true };
    const flushing = advanceDrain(beginDrain(0, timings), 10, done);
    expect(flushing.phase).toBe("flushing");
    expect(advanceDrain(flushing, 20, done)).toBe(flushing);
    expect(advanceDrain(flushing, 30, { ...done, unflushed: false }).phase).toBe("exited");
  });
});

describe("the ladder", () => {
  test.each([
    [1, "draining"],
    [2, "aborting"],
    [3, "releasing"],
    [4, "exited"],
  ])("leads after %i signals to %s", (times, phase) => {
    expect(signalled(times).phase).toBe(phase);
  });

  test("ignores a repeat within a second, whichever signal it is", () => {
    const state = signalled(1);
    expect(signalDrain(state, "SIGINT", 1_999, timings)).toEqual({ state, effect: "ignored" });
    expect(signalDrain(state, "SIGINT", 2_000, timings).effect).toBe("escalated");
  });

  test("takes SIGQUIT at its word within that second, once", () => {
    const { state, effect } = signalDrain(signalled(1), "SIGQUIT", 1_100, timings);
    expect([effect, state.phase]).toEqual(["escalated", "aborting"]);
    expect(signalDrain(state, "SIGQUIT", 1_200, timings).effect).toBe("ignored");
  });

  test("only ever shortens deadlines", () => {
    expect(signalled(2).deadlines).toMatchObject({
      drainByMs: 2_500,
      abortByMs: 4_500,
      releaseByMs: 7_500,
      flushByMs: 9_500,
      killAtMs: 31_000,
    });
    expect(signalled(3).deadlines).toMatchObject({ abortByMs: 4_000, releaseByMs: 7_000 });
    const late = signalDrain(signalled(1), "SIGTERM", 22_900, timings).state;
    expect(late.deadlines).toMatchObject({ abortByMs: 23_000, releaseByMs: 26_000 });
  });

  test("counts the first signal of a drain that was asked for otherwise as the first", () => {
    const asked = beginDrain(0, timings);
    const { state, effect } = signalDrain(asked, "SIGTERM", 5_000, timings);
    expect([effect, state.phase, state.deadlines]).toEqual([
      "draining",
      "draining",
      asked.deadlines,
    ]);
  });

  test("does not climb back: a second signal in the release changes nothing", () => {
    const releasing = { ...signalled(1), phase: "releasing" as const };
    expect(signalDrain(releasing, "SIGTERM", 25_000, timings).effect).toBe("ignored");
  });
});

describe("release delays", () => {
  test("hide a message from a handler that goes on until this process is gone", () => {
    const state = beginDrain(1_000, timings);
    expect(ignoredAbortDelayMs(state, 23_000)).toBe(6_000);
    expect(ignoredAbortDelayMs(state, 23_001)).toBe(6_000);
    expect(ignoredAbortDelayMs(state, 27_900)).toBe(2_000);
  });

  test("hide a message from an own poll until its wait is over", () => {
    expect(openPollDelayMs(0)).toBe(1_000);
    expect(openPollDelayMs(7_001)).toBe(9_000);
  });
});
