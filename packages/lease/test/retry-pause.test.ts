import { describe, expect, test } from "vitest";
import { retryPauseMs } from "../retry-pause.ts";

describe("retryPauseMs", () => {
  test("doubles from a tenth of a second to two seconds", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 100].map((failures) => retryPauseMs(failures, 1));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
  });

  test("is spread over its upper half", () => {
    expect(retryPauseMs(3, 0)).toBe(200);
    expect(retryPauseMs(3, 0.5)).toBe(300);
  });
});
