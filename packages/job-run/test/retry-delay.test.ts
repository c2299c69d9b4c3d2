import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growingDelayMs, retryDelayMs } from "../retry-delay.ts";

const policy = { baseMs: 5_000, capMs: 900_000 };

describe("the delay after a failure", () => {
  test("doubles up to its cap, with full jitter", () => {
    expect([1, 2, 3, 8, 9, 100].map((failures) => retryDelayMs(failures, policy, 0.5))).toEqual([
      2_500, 5_000, 10_000, 320_000, 450_000, 450_000,
    ]);
    expect(retryDelayMs(1, policy, 0.999)).toBe(4_995);
  });

  test("is never so short that a fault becomes a hot loop", () => {
    expect(retryDelayMs(1, policy, 0)).toBe(1_000);
    expect(retryDelayMs(1, { baseMs: 0, capMs: 0 }, 0.5)).toBe(1_000);
  });

  test("stays between a second and its cap, whatever the count", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0, max: 0.999 }), (n, r) => {
        const delayMs = retryDelayMs(n, policy, Number.isNaN(r) ? 0 : r);
        expect(delayMs).toBeGreaterThanOrEqual(1_000);
        expect(delayMs).toBeLessThanOrEqual(900_000);
      }),
    );
  });
});

describe("the delay of a message that no try will mend", () => {
  test("surely grows with each receive", () => {
    expect([1, 2, 3, 8, 9, 1_000].map((count) => growingDelayMs(count, policy))).toEqual([
      5_000, 10_000, 20_000, 640_000, 900_000, 900_000,
    ]);
  });

  test("grows from a second when failures are retried at once", () => {
    const eager = { baseMs: 0, capMs: 60_000 };
    expect([1, 2, 3].map((count) => growingDelayMs(count, eager))).toEqual([1_000, 2_000, 4_000]);
  });
});
