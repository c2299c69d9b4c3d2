import { describe, expect, test } from "vitest";
import { decimalText, formatMoney, roundedQuotient, toMinorUnits } from "../invoice/money.ts";

describe("roundedQuotient", () => {
  test.each([
    [5n, 2n, 3n],
    [-5n, 2n, -3n],
    [4n, 3n, 1n],
    [-4n, 3n, -1n],
    [0n, 7n, 0n],
    [7n, 7n, 1n],
  ])("%d / %d rounds to %d, halves away from zero", (dividend, divisor, quotient) => {
    expect(roundedQuotient(dividend, divisor)).toBe(quotient);
  });
});

describe("toMinorUnits", () => {
  test("refuses what a number cannot hold exactly", () => {
    expect(toMinorUnits(9_007_199_254_740_991n, "total")).toBe(9_007_199_254_740_991);
    expect(() => toMinorUnits(9_007_199_254_740_992n, "total")).toThrow(
      "total must lie within +/-9007199254740991 minor units, got 9007199254740992",
    );
  });
});

describe("formatMoney", () => {
  test.each([
    [123_456, "EUR", "de-DE", "1.234,56\u00a0€"],
    [123_456, "JPY", "en-US", "¥123,456"],
    [1_234_567, "KWD", "en-GB", "KWD\u00a01,234.567"],
    [-5, "USD", "en-US", "-$0.05"],
    [9_007_199_254_740_991, "GBP", "en-GB", "£90,071,992,547,409.91"],
    [150, "KWD", "ar-KW", "\u200f0.150\u00a0د.ك.\u200f"],
  ] as const)("%d %s in %s", (minorUnits, currency, locale, text) => {
    expect(formatMoney(minorUnits, currency, locale)).toBe(text);
  });
});

describe("decimalText", () => {
  test("keeps all decimals of the currency", () => {
    expect([decimalText(5, 2), decimalText(-5, 3), decimalText(5, 0)]).toEqual([
      "0.05",
      "-0.005",
      "5",
    ]);
  });
});
