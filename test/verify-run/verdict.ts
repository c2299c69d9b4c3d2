/** Each promise of a finished run, kept or broken, from the evidence alone. Pure. */

import type { Evidence, InvoiceEvidence, QueueEvidence, ReceiptEvidence } from "./evidence.ts";
import { findOpenRecords, findWrongCharges } from "./payment-verdict.ts";

/** One promise, and every fact that breaks it. */
export interface Check {
  readonly name: string;
  /** How many things were looked at. */
  readonly examined: number;
  /** Empty when the promise is kept. */
  readonly faults: readonly string[];
}

/** Judges a run that has ended by itself; a promise about nothing at all is broken. */
export function judge(evidence: Evidence): readonly Check[] {
  const { queues, invoices, receipts } = evidence;
  const sources = queues.filter(({ isDeadLetterQueue }) => !isDeadLetterQueue);
  const deadLetters = queues.filter(({ isDeadLetterQueue }) => isDeadLetterQueue);
  return [
    checkEach("queues are empty: nothing visible, in flight or delayed", sources, findLeftovers),
    checkEach("nothing was dead-lettered", deadLetters, findDeadLetters),
    checkEach("sent + enqueued = deleted, at the server", sources, compareCounts),
    checkEach("invoices add up: lines + taxes = total = payment", invoices, checkSums),
    {
      name: "exactly one charge for each captured invoice, none for others",
      examined: evidence.charges.length,
      faults: findWrongCharges(evidence),
    },
    {
      name: "every record of the job ledger is done, and so is each of its effects",
      examined: evidence.ledger.length,
      faults: findOpenRecords(evidence),
    },
    checkPairs(evidence),
    checkFiles(evidence),
    ...(receipts === undefined ? [] : judgeInside(receipts, invoices)),
  ];
}

function judgeInside(
  receipts: readonly ReceiptEvidence[],
  invoices: readonly InvoiceEvidence[],
): readonly Check[] {
  const byKey = new Map(invoices.map((invoice) => [keyOf(invoice), invoice]));
  const compare = (
    compareOne: (receipt: ReceiptEvidence, invoice: InvoiceEvidence) => string[],
  ) => {
    return (receipt: ReceiptEvidence) => {
      const { tenant: tenantId = "", invoice: invoiceId = "" } = receipt.keywords;
      const invoice = byKey.get(keyOf({ tenantId, invoiceId }));
      if (invoice === undefined) return [`${receipt.path} names no invoice of the table`];
      return compareOne(receipt, invoice);
    };
  };
  return [
    checkEach("every receipt is a PDF that pdfinfo opens", receipts, ({ path, problem, pages }) =>
      problem === undefined && pages > 0 ? [] : [`${path}: ${problem ?? "it has no page"}`],
    ),
    checkOnce(receipts, invoices),
    checkEach("receipt keywords say the invoice's totals", receipts, compare(compareKeywords)),
    checkEach("the printed text shows the invoice's total", receipts, compare(comparePrint)),
  ];
}

function checkEach<Thing>(
  name: string,
  things: readonly Thing[],
  findFaults: (thing: Thing) => readonly string[],
): Check {
  const faults = things.length === 0 ? ["there is nothing to look at"] : things.flatMap(findFaults);
  return { name, examined: things.length, faults };
}

function findLeftovers({ name, visible, inFlight, delayed }: QueueEvidence): readonly string[] {
  if (visible + inFlight + delayed === 0) return [];
  return [`${name}: ${visible} visible, ${inFlight} in flight, ${delayed} delayed`];
}

function findDeadLetters(queue: QueueEvidence): readonly string[] {
  const arrived = queue.sent + queue.arrivedOtherwise;
  return arrived === 0 ? findLeftovers(queue) : [`${queue.name}: ${arrived} arrived`];
}

function compareCounts(queue: QueueEvidence): readonly string[] {
  const { name, sent, deleted, leftOtherwise, arrivedOtherwise } = queue;
  if (sent === 0) return [`${name}: nothing was ever sent`];
  if (sent === deleted && leftOtherwise + arrivedOtherwise === 0) return [];
  return [
    `${name}: ${sent} sent, ${deleted} deleted, ${arrivedOtherwise} arrived and ` +
      `${leftOtherwise} left in other ways`,
  ];
}

function checkSums(invoice: InvoiceEvidence): readonly string[] {
  const { totalMinor, sumOfPartsMinor, paidMinor = totalMinor, isPaid } = invoice;
  const hasPayment = invoice.paidMinor !== undefined;
  if (isPaid !== hasPayment) return [`${keyOf(invoice)}: its state and its payment disagree`];
  if (totalMinor === sumOfPartsMinor && totalMinor === paidMinor) return [];
  return [`${keyOf(invoice)}: total ${totalMinor}, parts ${sumOfPartsMinor}, paid ${paidMinor}`];
}

/** By numbers; which receipt is whose is told by what stands in it. */
function checkPairs({ invoices, receiptPaths }: Evidence): Check {
  const paid = invoices.filter(({ isPaid }) => isPaid).length;
  const isEqual = paid === receiptPaths.length && paid > 0;
  const fault = `${paid} paid invoices, ${receiptPaths.length} receipts`;
  return {
    name: "as many receipts as paid invoices",
    examined: paid,
    faults: isEqual ? [] : [fault],
  };
}

function checkFiles({ receiptPaths, otherPaths }: Evidence): Check {
  return {
    name: "no unfinished file beside the receipts",
    examined: receiptPaths.length + otherPaths.length,
    faults: otherPaths,
  };
}

function checkOnce(
  receipts: readonly ReceiptEvidence[],
  invoices: readonly InvoiceEvidence[],
): Check {
  const found = new Map<string, number>();
  for (const { keywords } of receipts) {
    const key = keyOf({ tenantId: keywords["tenant"] ?? "", invoiceId: keywords["invoice"] ?? "" });
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  return checkEach(
    "exactly one receipt for each paid invoice, none for others",
    invoices,
    (one) => {
      const count = found.get(keyOf(one)) ?? 0;
      const wanted = one.isPaid ? 1 : 0;
      return count === wanted ? [] : [`${keyOf(one)}: ${count} receipts instead of ${wanted}`];
    },
  );
}

function compareKeywords(receipt: ReceiptEvidence, invoice: InvoiceEvidence): string[] {
  const { total, paid, currency } = receipt.keywords;
  const said = `${total} ${currency}, ${paid} paid`;
  const wanted = `${invoice.totalMinor} ${invoice.currency}, ${invoice.paidMinor} paid`;
  return said === wanted ? [] : [`${receipt.path}: says ${said}; the invoice: ${wanted}`];
}

function comparePrint(receipt: ReceiptEvidence, invoice: InvoiceEvidence): string[] {
  const { totalMinor, currency } = invoice;
  if (printsAmount(receipt.text, totalMinor, currency)) return [];
  return [`${receipt.path}: ${totalMinor} minor units of ${currency} stand nowhere in its text`];
}

/**
 * Whether the amount stands somewhere in the text, written in whichever locale: its digits in
 * order, between them nothing but what separates groups and decimals, and no digit around them.
 */
export function printsAmount(text: string, minorUnits: number, currency: string): boolean {
  const { maximumFractionDigits: decimals = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  const digits = [...String(Math.abs(minorUnits)).padStart(decimals + 1, "0")];
  const whole = digits.slice(0, digits.length - decimals).join("[.,'’\\s\u00a0\u202f]?");
  const fraction = decimals === 0 ? "" : `[.,]${digits.slice(-decimals).join("")}`;
  return new RegExp(`(?<!\\d|\\d[.,'’])${whole}${fraction}(?!\\d|[.,'’]\\d)`).test(text);
}

function keyOf({ tenantId, invoiceId }: Pick<InvoiceEvidence, "tenantId" | "invoiceId">): string {
  return `${tenantId}/${invoiceId}`;
}
