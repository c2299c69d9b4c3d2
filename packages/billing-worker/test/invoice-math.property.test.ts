import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InvoiceLine } from "../invoice/invoice.ts";
import { computeTotals } from "../invoice/invoice-math.ts";

const line: fc.Arbitrary<InvoiceLine> = fc.record({
  description: fc.constant("Hours"),
  quantity: fc
    .tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 999 }))
    .map(([whole, thousandths]) => `${whole}.${String(thousandths).padStart(3, "0")}`),
  unitPriceMinor: fc.integer({ min: -50_000, max: 1_000_000 }),
  taxRateBasisPoints: fc.constantFrom(0, 500, 725, 1900, 2000),
});

/** A last line that is dear enough to lift any total above zero. */
const dear: InvoiceLine = {
  description: "Plant",
  quantity: "1",
  unitPriceMinor: 100_000_000_000,
  taxRateBasisPoints: 0,
};
const invoices = fc.array(line, { maxLength: 40 }).map((lines) => [...lines, dear]);

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe("totals, over every invoice", () => {
  test("the parts add up to the total, by line and by rate", () => {
    fc.assert(
      fc.property(invoices, (lines) => {
        const totals = computeTotals(lines);
        expect(sum(totals.lines.map(({ netMinor }) => netMinor))).toBe(totals.subtotalMinor);
        expect(sum(totals.taxes.map(({ netMinor }) => netMinor))).toBe(totals.subtotalMinor);
        const taxes = sum(totals.taxes.map(({ taxMinor }) => taxMinor));
        expect(totals.subtotalMinor + taxes).toBe(totals.totalMinor);
      }),
    );
  });

  test("every rounded amount is within half a unit of the exact one", () => {
    fc.assert(
      fc.property(invoices, (lines) => {
        const totals = computeTotals(lines);
        for (const { netMinor, quantity, unitPriceMinor } of totals.lines) {
          const thousandths = Number(quantity.replace(".", ""));
          const scale = quantity.includes(".") ? 1_000 : 1;
          expect(
            Math.abs(2 * (netMinor * scale - thousandths * unitPriceMinor)),
          ).toBeLessThanOrEqual(scale);
        }
        for (const { netMinor, rateBasisPoints, taxMinor } of totals.taxes) {
          const error = taxMinor * 10_000 - netMinor * rateBasisPoints;
          expect(Math.abs(2 * error)).toBeLessThanOrEqual(10_000);
        }
      }),
    );
  });

  test("the order of the lines changes no sum", () => {
    fc.assert(
      fc.property(invoices, (lines) => {
        const { lines: _, ...forwards } = computeTotals(lines);
        const { lines: __, ...backwards } = computeTotals(lines.toReversed());
        expect(backwards).toEqual(forwards);
      }),
    );
  });

  test("the generator makes discounts, several rates and halves (it is not vacuous)", () => {
    const samples = fc.sample(invoices, 300);
    const lines = samples.flat();
    const isHalf = ({ quantity, unitPriceMinor }: InvoiceLine) =>
      Math.abs((Number(quantity.replace(".", "")) * unitPriceMinor) % 1_000) === 500;
    expect(lines.some(({ unitPriceMinor }) => unitPriceMinor < 0)).toBe(true);
    expect(lines.some(isHalf)).toBe(true);
    expect(samples.some((invoice) => computeTotals(invoice).taxes.length > 2)).toBe(true);
  });
});
