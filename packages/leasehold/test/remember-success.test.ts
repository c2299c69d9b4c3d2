import { describe, expect, test } from "vitest";
import { rememberSuccess } from "../remember-success.ts";

describe("rememberSuccess", () => {
  test("makes its value once, also for callers that come while it is made", async () => {
    let calls = 0;
    const value = rememberSuccess(async () => {
      calls += 1;
      return calls;
    });

    expect(await Promise.all([value(), value()])).toEqual([1, 1]);
    expect(await value()).toBe(1);
  });

  test("tries again after a failure", async () => {
    let calls = 0;
    const value = rememberSuccess(async () => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      return calls;
    });

    await expect(value()).rejects.toThrow("not yet");
    expect(await value()).toBe(2);
  });
});
