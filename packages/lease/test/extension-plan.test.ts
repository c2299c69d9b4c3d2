import { resolveLeaseOptions } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { type LeaseTimes, longestVisibilityMs, planExtension } from "../extension-plan.ts";

const options = resolveLeaseOptions();
const fresh = { jitter: 0, pausedUntil: undefined };

/** A moment at which both clocks say the same. */
const at = (ms: number) => ({ monotonicMs: ms, wallMs: ms });

/** Claimed by a call that was sent at 0 and answered at once. */
const times: LeaseTimes = {
  claimedAt: at(0),
  lastSentAt: at(0),
  validUntil: at(59_000),
  visibleBy: at(60_000),
};

describe("planExtension", () => {
  test("extends a period after the last success (MassTransit PR 2870)", () => {
    expect(planExtension(times, fresh, at(5_000), options)).toEqual({
      dueInMs: 15_000,
      visibilityTimeoutMs: 60_000,
      isTaper: false,
    });
  });

  test("extends earlier when two calls would no longer fit before the lease ends", () => {
    const short = { ...times, validUntil: at(20_000), visibleBy: at(21_000) };
    expect(planExtension(short, fresh, at(5_000), options)?.dueInMs).toBe(10_000);
    expect(planExtension(short, fresh, at(16_000), options)?.dueInMs).toBe(0);
  });

  test("sends nothing that cannot be answered before the lease ends", () => {
    expect(planExtension(times, fresh, at(57_000), options)).toBeDefined();
    expect(planExtension(times, fresh, at(57_001), options)).toBeUndefined();
  });

  test("waits for the pause after a failure, not longer", () => {
    const paused = { jitter: 0, pausedUntil: at(20_400) };
    expect(planExtension(times, paused, at(20_100), options)?.dueInMs).toBe(300);
    expect(planExtension(times, paused, at(20_500), options)?.dueInMs).toBe(0);
  });

  test("reaches to the drain's target at most, and leaves alone what is there", () => {
    const at5 = { ...times, lastSentAt: at(0), validUntil: at(39_000), visibleBy: at(40_000) };
    expect(planExtension(at5, fresh, at(5_000), options, 62_500)).toEqual({
      dueInMs: 15_000,
      visibilityTimeoutMs: 57_000,
      isTaper: false,
    });
    expect(planExtension(at5, fresh, at(5_000), options, 40_900)).toBeUndefined();
  });

  test("tapers at once what reaches beyond the target", () => {
    expect(planExtension(times, fresh, at(5_000), options, 37_000)).toEqual({
      dueInMs: 0,
      visibilityTimeoutMs: 32_000,
      isTaper: true,
    });
  });

  test("tapers again what may still reach beyond it, because the answer was lost", () => {
    const unsure = { ...times, validUntil: at(36_000), visibleBy: at(60_000) };
    expect(planExtension(unsure, fresh, at(5_000), options, 37_000)?.isTaper).toBe(true);
    const sure = { ...unsure, visibleBy: at(37_300) };
    expect(planExtension(sure, fresh, at(5_000), options, 37_000)).toBeUndefined();
  });

  test("asks for no more than SQS's twelve hours leave, and stops there (aws-sdk-js-v3 2983; aws-sdk-net 794)", () => {
    const old = {
      claimedAt: at(0),
      lastSentAt: at(43_130_000),
      validUntil: at(43_189_000),
      visibleBy: at(43_190_000),
    };
    expect(planExtension(old, fresh, at(43_150_000), options)).toEqual({
      dueInMs: 0,
      visibilityTimeoutMs: 49_000,
      isTaper: false,
    });
    const there = { ...old, validUntil: at(43_198_000), visibleBy: at(43_199_000) };
    expect(planExtension(there, fresh, at(43_150_000), options)).toBeUndefined();
  });
});

describe("longestVisibilityMs", () => {
  test("is what twelve hours leave, in whole seconds, less a margin", () => {
    expect(longestVisibilityMs(at(0), at(0), options)).toBe(43_199_000);
    expect(longestVisibilityMs(at(0), at(500), options)).toBe(43_198_000);
    expect(longestVisibilityMs(at(0), at(50_000_000), options)).toBe(0);
  });
});
