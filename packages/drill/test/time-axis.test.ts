import { describe, expect, test } from "vitest";
import { axisTicks, showMoment, showMs } from "../report-page/time-axis.js";

describe("showMs", () => {
  test("writes a duration in the unit that people would take", () => {
    expect([0, 350.4, 999, 1_000, 2_450, 59_999, 60_000, 185_000, 7_500_000].map(showMs)).toEqual([
      "0 ms",
      "350 ms",
      "999 ms",
      "1 s",
      "2.45 s",
      "59.999 s",
      "1 min",
      "3 min 5 s",
      "2 h 5 min",
    ]);
  });
});

describe("showMoment", () => {
  test("adds the wall time where the run had one", () => {
    expect(showMoment(1_500, 0)).toBe("1.5 s");
    expect(showMoment(1_500, Date.UTC(2026, 4, 4, 10, 3, 12))).toBe("1.5 s (10:03:13.500 UTC)");
  });
});

describe("axisTicks", () => {
  test("takes round steps that leave room for their text", () => {
    expect(axisTicks(16_000, 900).map(({ text }) => text)).toEqual([
      "0",
      "2 s",
      "4 s",
      "6 s",
      "8 s",
      "10 s",
      "12 s",
      "14 s",
      "16 s",
    ]);
    expect(axisTicks(30, 400).map(({ atMs }) => atMs)).toEqual([0, 10, 20, 30]);
  });

  test("takes whole days for a run of weeks", () => {
    expect(axisTicks(40 * 86_400_000, 420).map(({ atMs }) => atMs / 86_400_000)).toEqual([
      0, 8, 16, 24, 32, 40,
    ]);
  });
});
