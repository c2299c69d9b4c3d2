/** The sums of an invoice, exact in every step and rounded where the law rounds. Pure. */

import { InvoiceAmountError } from "../errors.ts";
import type { BilledLine, InvoiceLine, InvoiceTotals, TaxShare } from "./invoice.ts";
import { roundedQuotient, toMinorUnits } from "./money.ts";

const THOUSANDTHS = 1000n;
const BASIS_POINTS = 10_000n;
const QUANTITY = /^(?<whole>\d{1,9})(?:\.(?<fraction>\d{1,3}))?$/;

/** Whether the text is a quantity: at most nine digits and three decimals, above zero. */
export function isQuantity(text: string): boolean {
  const parsed = parseQuantity(text);
  return parsed !== undefined && parsed > 0n;
}

/**
 * The amounts of all lines, the tax of each rate, and the total.
 *
 * A line is rounded once: quantity times unit price, half away from zero. Tax is rounded once for
 * each rate, on the sum of its lines, and not line by line: the printed tax is then exactly the rate
 * of the printed net, and a split of one line into many does not change it by more than its lines'
 * own rounding.
 *
 * @throws InvoiceAmountError when the total is not above zero or an amount cannot be counted exactly
 */
export function computeTotals(lines: readonly InvoiceLine[]): InvoiceTotals {
  const nets = lines.map(netOf);
  const netByRate = new Map<number, bigint>();
  for (const [index, { taxRateBasisPoints }] of lines.entries()) {
    const before = netByRate.get(taxRateBasisPoints) ?? 0n;
    netByRate.set(taxRateBasisPoints, before + (nets[index] ?? 0n));
  }
  const rates = [...netByRate].sort(([left], [right]) => left - right);
  const taxes = rates.map(([rate, net]) => ({ rate, net, tax: taxOn(net, rate) }));
  const subtotal = nets.reduce((sum, net) => sum + net, 0n);
  const total = taxes.reduce((sum, { tax }) => sum + tax, subtotal);
  if (total <= 0n) throw new InvoiceAmountError(`total must be above 0 minor units, got ${total}`);
  return {
    lines: lines.map((line, index) => billedLine(line, nets[index] ?? 0n, index)),
    subtotalMinor: toMinorUnits(subtotal, "subtotal"),
    taxes: taxes.map(taxShare),
    totalMinor: toMinorUnits(total, "total"),
  };
}

function netOf(line: InvoiceLine, index: number): bigint {
  const quantity = parseQuantity(line.quantity);
  if (quantity === undefined) {
    throw new InvoiceAmountError(`quantity of line ${index + 1} must be a decimal number`);
  }
  return roundedQuotient(BigInt(line.unitPriceMinor) * quantity, THOUSANDTHS);
}

function taxOn(net: bigint, rateBasisPoints: number): bigint {
  return roundedQuotient(net * BigInt(rateBasisPoints), BASIS_POINTS);
}

function billedLine(line: InvoiceLine, net: bigint, index: number): BilledLine {
  return { ...line, netMinor: toMinorUnits(net, `net of line ${index + 1}`) };
}

function taxShare({ rate, net, tax }: { rate: number; net: bigint; tax: bigint }): TaxShare {
  return {
    rateBasisPoints: rate,
    netMinor: toMinorUnits(net, `net at ${rate} basis points`),
    taxMinor: toMinorUnits(tax, `tax at ${rate} basis points`),
  };
}

/** In thousandths; `undefined` when the text is no quantity. */
function parseQuantity(text: string): bigint | undefined {
  const groups = QUANTITY.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const fraction = (groups["fraction"] ?? "").padEnd(3, "0");
  return BigInt(groups["whole"] ?? "") * THOUSANDTHS + BigInt(fraction);
}
