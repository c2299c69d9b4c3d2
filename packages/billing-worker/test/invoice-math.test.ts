import { describe, expect, test } from "vitest";
import type { InvoiceLine } from "../invoice/invoice.ts";
import { computeTotals, isQuantity } from "../invoice/invoice-math.ts";

function line(quantity: string, unitPriceMinor: number, taxRateBasisPoints: number): InvoiceLine {
  return { description: "Hours", quantity, unitPriceMinor, taxRateBasisPoints };
}

describe("computeTotals", () => {
  test("rounds each line once and each tax rate once", () => {
    const totals = computeTotals([line("0.5", 3, 1900), line("3", 333, 1900), line("1", 250, 700)]);

    expect(totals.lines.map(({ netMinor }) => netMinor)).toEqual([2, 999, 250]);
    expect(totals.subtotalMinor).toBe(1_251);
    // 7 % of 250 is 17.5; 19 % of 1,001 is 190.19.
    expect(totals.taxes).toEqual([
      { rateBasisPoints: 700, netMinor: 250, taxMinor: 18 },
      { rateBasisPoints: 1900, netMinor: 1_001, taxMinor: 190 },
    ]);
    expect(totals.totalMinor).toBe(1_459);
  });

  test("lets a discount cancel exactly the charge that it mirrors", () => {
    const totals = computeTotals([line("0.5", 3, 1900), line("0.5", -3, 1900), line("1", 1, 0)]);

    expect(totals.lines.map(({ netMinor }) => netMinor)).toEqual([2, -2, 1]);
    expect(totals.totalMinor).toBe(1);
  });

  test("refuses a total that is not above zero", () => {
    expect(() => computeTotals([line("1", 100, 0), line("1", -100, 0)])).toThrow(
      "total must be above 0 minor units, got 0",
    );
  });

  test("refuses amounts that a number cannot hold", () => {
    expect(() => computeTotals([line("999999999.999", 9_007_199_254_740_991, 0)])).toThrow(
      /^subtotal must lie within|^net of line 1 must lie within/,
    );
  });
});

describe("isQuantity", () => {
  test.each(["1", "0.001", "999999999.999", "12.5"])("takes %s", (text) => {
    expect(isQuantity(text)).toBe(true);
  });

  test.each(["", "0", "0.000", "-1", "+1", "1.", ".5", "1e3", "1,5", "1.2345", "1234567890", " 1"])(
    "refuses %j",
    (text) => {
      expect(isQuantity(text)).toBe(false);
    },
  );
});
