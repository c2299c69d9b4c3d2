import { describe, expect, test } from "vitest";
import { type ProtectionState, planProtection } from "../protection-plan.ts";

const times = { idleMs: 15_000, renewEveryMs: 90_000, breatherEveryMs: 1_800_000 };

const busy: ProtectionState = {
  ...{ isBusy: true, isDraining: false },
  ...{ idleSinceAtMs: 0, breatherUntilMs: Number.NEGATIVE_INFINITY },
};
const idle: ProtectionState = { ...busy, isBusy: false, idleSinceAtMs: 100_000 };
const isProtected = { maybeOnSinceAtMs: 0, confirmedAtMs: 60_000 };

describe("planProtection", () => {
  test("asks for nothing while nothing was ever held", () => {
    expect(planProtection(idle, times, 500_000)).toEqual({ kind: "wait" });
  });

  test("protects a busy task at once", () => {
    expect(planProtection(busy, times, 0)).toEqual({ kind: "set", why: "busy" });
  });

  test("renews at half its time, counted from the call that was confirmed", () => {
    const state = { ...busy, ...isProtected };
    expect(planProtection(state, times, 149_999)).toEqual({ kind: "wait", untilAtMs: 150_000 });
    expect(planProtection(state, times, 150_000)).toEqual({ kind: "set", why: "renewal" });
  });

  test("keeps protection for a while when nothing is held, and gives it up then", () => {
    const state = { ...idle, ...isProtected };
    expect(planProtection(state, times, 100_000)).toEqual({ kind: "wait", untilAtMs: 115_000 });
    expect(planProtection(state, times, 115_000)).toEqual({ kind: "clear", why: "idle" });
  });

  test("asks again for what nobody knows, in either direction", () => {
    const unknown = { maybeOnSinceAtMs: 90_000 };
    expect(planProtection({ ...busy, ...unknown }, times, 95_000).kind).toBe("set");
    expect(planProtection({ ...idle, ...unknown }, times, 115_000).kind).toBe("clear");
  });

  test("gives protection up in a drain, busy or not, and only if there may be any", () => {
    const draining = { ...busy, isDraining: true };
    expect(planProtection({ ...draining, ...isProtected }, times, 61_000)).toEqual({
      kind: "clear",
      why: "drain",
    });
    expect(planProtection(draining, times, 61_000)).toEqual({ kind: "wait" });
  });

  test("lets a worker that is never idle go without protection for a breather", () => {
    const state = { ...busy, maybeOnSinceAtMs: 0, confirmedAtMs: 1_790_000 };
    expect(planProtection(state, times, 1_799_999)).toEqual({
      kind: "wait",
      untilAtMs: 1_800_000,
    });
    expect(planProtection(state, times, 1_800_000)).toEqual({ kind: "clear", why: "breather" });

    const resting = { ...busy, breatherUntilMs: 1_860_000 };
    expect(planProtection(resting, times, 1_800_000)).toEqual({
      kind: "wait",
      untilAtMs: 1_860_000,
    });
    expect(planProtection(resting, times, 1_860_000)).toEqual({ kind: "set", why: "busy" });
  });
});
