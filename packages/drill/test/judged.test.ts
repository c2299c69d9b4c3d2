import { describe, expect, test } from "vitest";
import { excuseSlow, isOnlySlow, type Judged } from "../judged.ts";

const row = (held: boolean, overMs?: number): Judged => ({
  ...{ promise: "in time", held, seen: "+3000 ms" },
  ...(overMs !== undefined && { overMs }),
});

describe("a bound that was missed", () => {
  test("is tried again when nothing else is wrong and it came a little late", () => {
    expect(isOnlySlow([row(true), row(false, 2_000)])).toBe(true);
    expect(isOnlySlow([row(true), row(true, -500)])).toBe(false);
  });

  test("is not tried again when something else is wrong, or it came far too late", () => {
    expect(isOnlySlow([row(false), row(false, 1)])).toBe(false);
    expect(isOnlySlow([row(false, 2_001)])).toBe(false);
  });

  test("is told as slow after the second try, and stays broken when it is no matter of speed", () => {
    expect(excuseSlow(row(false, 10))).toMatchObject({ held: true, seen: "slow, twice: +3000 ms" });
    expect(excuseSlow(row(false, 60_000))).toMatchObject({ held: false, seen: "+3000 ms" });
    expect(excuseSlow(row(false))).toMatchObject({ held: false, seen: "+3000 ms" });
    expect(excuseSlow(row(true, -10))).toMatchObject({ held: true, seen: "+3000 ms" });
  });
});
