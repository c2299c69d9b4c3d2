/** What a receipt says, as finished texts: amounts, dates, tax lines, keywords. Pure. */

import type { PaidInvoice, Party } from "../invoice/invoice.ts";
import { type CurrencyCode, formatMoney } from "../invoice/money.ts";
import { isPrintable, printableText } from "./printable-text.ts";

/** One row of the table. */
export interface ReceiptRow {
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly taxRate: string;
  readonly amount: string;
}

/** A label and what belongs to it. */
export interface LabelledText {
  readonly label: string;
  readonly text: string;
}

/** All texts of one receipt, printable as they are. */
export interface ReceiptText {
  readonly sellerName: string;
  readonly sellerLines: readonly string[];
  readonly buyerName: string;
  readonly buyerLines: readonly string[];
  readonly facts: readonly LabelledText[];
  readonly total: string;
  readonly paidLine: string;
  readonly rows: readonly ReceiptRow[];
  /** Subtotal and taxes; the total stands apart. */
  readonly sums: readonly LabelledText[];
  readonly note?: string;
  readonly footer: string;
}

/** Every text of the receipt: words in English, numbers in the invoice's locale. */
export function receiptText(invoice: PaidInvoice): ReceiptText {
  const { currency, locale, payment, seller, buyer, note } = invoice;
  const money = (minorUnits: number) => printableMoney(minorUnits, currency, locale);
  const percent = (basisPoints: number) => printableText(formatRate(basisPoints, locale));
  const paidOn = formatDay(payment.paidAt);
  return {
    sellerName: printableText(seller.name),
    sellerLines: partyLines(seller),
    buyerName: printableText(buyer.name),
    buyerLines: partyLines(buyer),
    facts: [
      { label: "Invoice", text: printableText(invoice.invoiceId) },
      { label: "Issued", text: formatDay(invoice.issuedOn) },
      { label: "Paid", text: paidOn },
      { label: "Method", text: printableText(payment.method) },
    ],
    total: money(invoice.totalMinor),
    paidLine: `Paid in full on ${paidOn}`,
    rows: invoice.lines.map((line) => ({
      description: printableText(line.description),
      quantity: printableText(formatQuantity(line.quantity, line.unit, locale)),
      unitPrice: money(line.unitPriceMinor),
      taxRate: percent(line.taxRateBasisPoints),
      amount: money(line.netMinor),
    })),
    sums: [
      { label: "Subtotal", text: money(invoice.subtotalMinor) },
      ...invoice.taxes.map(({ rateBasisPoints, netMinor, taxMinor }) => ({
        label: `Tax ${percent(rateBasisPoints)} on ${money(netMinor)}`,
        text: money(taxMinor),
      })),
    ],
    ...(note === undefined ? {} : { note: printableText(note) }),
    footer: [seller.name, seller.taxId, seller.email]
      .filter((text) => text !== undefined)
      .map(printableText)
      .join("  ·  "),
  };
}

/**
 * What a program reads from the PDF instead of its drawing: `total` and `paid` in minor units,
 * ids percent-encoded, so that `;` and `=` only ever separate.
 */
export function receiptKeywords(invoice: PaidInvoice): string {
  const { tenantId, invoiceId, version, currency, totalMinor, payment } = invoice;
  const fields = {
    invoice: encodeURIComponent(invoiceId),
    tenant: encodeURIComponent(tenantId),
    version,
    currency,
    total: totalMinor,
    paid: payment.amountMinor,
  };
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(";");
}

function partyLines({ addressLines, taxId, email }: Party): string[] {
  const lines = [...addressLines];
  if (taxId !== undefined) lines.push(`Tax ID ${taxId}`);
  if (email !== undefined) lines.push(email);
  return lines.map(printableText);
}

/** The currency's code where the fonts lack its sign, as they do for Arabic ones. */
function printableMoney(minorUnits: number, currency: CurrencyCode, locale: string): string {
  const text = formatMoney(minorUnits, currency, locale);
  return printableText(
    isPrintable(text) ? text : formatMoney(minorUnits, currency, locale, "code"),
  );
}

/**
 * A day or an instant as a day in UTC, so that it does not depend on where it is rendered. English
 * like all words of a receipt; only its numbers follow the locale.
 */
function formatDay(dayOrInstant: string): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return format.format(new Date(dayOrInstant));
}

function formatRate(basisPoints: number, locale: string): string {
  const format = new Intl.NumberFormat(locale, {
    style: "percent",
    maximumFractionDigits: 2,
    numberingSystem: "latn",
  });
  return format.format(basisPoints / 10_000);
}

function formatQuantity(quantity: string, unit: string | undefined, locale: string): string {
  const format = new Intl.NumberFormat(locale, {
    maximumFractionDigits: 3,
    numberingSystem: "latn",
  });
  const number = format.format(quantity as Intl.StringNumericLiteral);
  return unit === undefined ? number : `${number} ${unit}`;
}
