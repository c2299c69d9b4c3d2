import { describe, expect, test } from "vitest";
import { retryAfterMs } from "../retry-after.ts";

const date = "Wed, 21 Oct 2026 07:28:00 GMT";

describe("retryAfterMs", () => {
  test.each([
    ["30", 30_000],
    ["0", 0],
    [" 2 ", 2_000],
    ["0.25", 250],
    ["Wed, 21 Oct 2026 07:29:30 GMT", 90_000],
    ["Wednesday, 21-Oct-26 07:29:30 GMT", 90_000],
    ["Wed, 21 Oct 2026 07:00:00 GMT", 0],
  ])("reads %j as %d ms", (retryAfter, expected) => {
    expect(retryAfterMs({ retryAfter, date })).toBe(expected);
  });

  test.each(["", "-5", "soon", "1e9", "Infinity", "2026-10-21", "Wed, 99 Foo 2026 07:28:00 GMT"])(
    "reads nothing from %j",
    (retryAfter) => {
      expect(retryAfterMs({ retryAfter, date })).toBeUndefined();
    },
  );

  test("knows no pause without the header, nor from a date alone", () => {
    expect(retryAfterMs({ retryAfter: null, date })).toBeUndefined();
    expect(retryAfterMs({ retryAfter: undefined })).toBeUndefined();
    expect(retryAfterMs({ retryAfter: date })).toBeUndefined();
    expect(retryAfterMs({ retryAfter: date, date: "yesterday" })).toBeUndefined();
  });
});
