import { resolveLeaseOptions } from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";
import { describe, expect, test } from "vitest";

describe("resolveLeaseOptions", () => {
  test("fills in what was not chosen", () => {
    expect(resolveLeaseOptions()).toEqual({
      visibilityTimeoutMs: 60_000,
      extendEveryMs: 20_000,
      callTimeoutMs: 2_000,
      leaseMarginMs: 1_000,
      clockMarginMs: 1_000,
      ackLingerMs: 100,
      releaseGatherMs: 20,
      maxHoldMs: 43_200_000,
    });
  });

  test("extends three times as often as a shorter visibility timeout ends", () => {
    expect(resolveLeaseOptions({ visibilityTimeoutMs: 30_000 }).extendEveryMs).toBe(10_000);
  });

  test("takes the numbers of the drill", () => {
    const drill = { visibilityTimeoutMs: 10_000, extendEveryMs: 3_000, callTimeoutMs: 1_000 };
    expect(resolveLeaseOptions(drill)).toMatchObject(drill);
  });

  test("names every contradiction at once", () => {
    const refused = () =>
      resolveLeaseOptions({
        visibilityTimeoutMs: 10_500,
        extendEveryMs: 8_000,
        maxHoldMs: 5_000,
      });
    expect(refused).toThrow(InvalidOptionsError);
    expect(refused).toThrow("visibilityTimeoutMs must be whole seconds, got 10500");
    expect(refused).toThrow("visibilityTimeoutMs (10500) must leave room for extendEveryMs");
    expect(refused).toThrow("maxHoldMs (5000) must be at least visibilityTimeoutMs (10500)");
  });

  test("refuses what it does not know", () => {
    const typo = { visibilityTimeout: 30 } as object;
    expect(() => resolveLeaseOptions(typo)).toThrow("visibilityTimeout is not a lease option");
  });
});
