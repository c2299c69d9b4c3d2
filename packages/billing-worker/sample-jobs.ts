/** Realistic jobs of this service, the same ones for the same seed. Pure. */

import type { InvoiceDraft, InvoiceLine } from "./invoice/invoice.ts";
import { computeTotals } from "./invoice/invoice-math.ts";
import { captureJob } from "./jobs/capture-payment.ts";
import type { PaymentWebhookPayload } from "./jobs/payment-webhook.ts";
import {
  type SampleItem,
  type SampleTenant,
  sampleBuyers,
  sampleItems,
  sampleTenants,
} from "./sample-catalogue.ts";

/** Which jobs to make. */
export interface SampleRequest {
  /** At least 1. */
  readonly count: number;
  /** A whole number; another seed makes jobs with other ids. */
  readonly seed: number;
}

/** One job to send. */
export interface SampleJob {
  readonly type: string;
  readonly tenantId: string;
  readonly jobId: string;
  readonly payload: unknown;
}

/**
 * Exactly `count` jobs: an `invoice.issue` and, for all but an odd last one, what has it paid, so that
 * half of them end in a receipt. Every other invoice is charged by a `payment.capture`, the rest are
 * paid at the provider and reported by a `payment.webhook`. Both follow their invoices closely; some
 * come first, as they do in life.
 */
export function sampleJobs({ count, seed }: SampleRequest): readonly SampleJob[] {
  const random = new Random(seed);
  const placed: { readonly at: number; readonly job: SampleJob }[] = [];
  for (let index = 0; index * 2 < count; index += 1) {
    const tenant = random.pick(sampleTenants);
    const invoice = sampleInvoice(
      tenant,
      `INV-${seed}-${String(index + 1).padStart(5, "0")}`,
      random,
    );
    placed.push({ at: index * 2, job: issueJob(tenant, invoice) });
    if (index * 2 + 1 === count) break;
    const isCharged = index % 2 === 0 && canCharge(invoice);
    const paying = isCharged
      ? chargeJob(tenant, invoice, random)
      : webhookJob(tenant, samplePayment(invoice, random));
    const delay = random.isOneIn(6) ? -random.whole(1, 4) : random.whole(1, 8);
    placed.push({ at: index * 2 + delay + 0.5, job: paying });
  }
  return placed.sort((left, right) => left.at - right.at).map(({ job }) => job);
}

function issueJob({ tenantId }: SampleTenant, payload: InvoiceDraft): SampleJob {
  return { type: "invoice.issue", tenantId, jobId: payload.invoiceId, payload };
}

/**
 * Stripe takes at most eight digits, and currencies of three decimals in steps of ten only.
 * @see Stripe, "Supported currencies"
 */
function canCharge({ currency, lines }: InvoiceDraft): boolean {
  return currency !== "KWD" && computeTotals(lines).totalMinor <= MOST_CHARGED;
}

/** The amount is the invoice's own, and is known once it is issued. */
function chargeJob(
  { tenantId }: SampleTenant,
  { invoiceId }: InvoiceDraft,
  random: Random,
): SampleJob {
  const means = { paymentMethod: random.pick(CARDS) };
  const { type, jobId, payload } = captureJob({ invoiceId, version: 1 }, means);
  return { type, tenantId, jobId, payload };
}

function webhookJob({ tenantId }: SampleTenant, payload: PaymentWebhookPayload): SampleJob {
  return { type: "payment.webhook", tenantId, jobId: payload.eventId, payload };
}

function sampleInvoice(tenant: SampleTenant, invoiceId: string, random: Random): InvoiceDraft {
  const issuedOn = Date.UTC(2026, 0, random.whole(1, 90));
  return {
    invoiceId,
    issuedOn: dayOf(issuedOn),
    dueOn: dayOf(issuedOn + 30 * DAY_MS),
    currency: tenant.currency,
    locale: tenant.locale,
    seller: tenant.seller,
    buyer: random.pick(sampleBuyers),
    lines: sampleLines(tenant, random),
    note: "Thank you for your business. Please keep this receipt for your records.",
  };
}

/** Mostly a few lines; one invoice in eight fills pages, and one in four has a discount. */
function sampleLines(tenant: SampleTenant, random: Random): readonly InvoiceLine[] {
  const count = random.isOneIn(8) ? random.whole(40, 160) : random.whole(1, 9);
  const lines = Array.from({ length: count }, () =>
    sampleLine(tenant, random.pick(sampleItems), random),
  );
  const [first] = lines;
  if (first === undefined || !random.isOneIn(4)) return lines;
  const { netMinor } = computeTotals([first]).lines[0] ?? { netMinor: 0 };
  const discount = -Math.floor(netMinor / random.whole(5, 20));
  const { taxRateBasisPoints } = first;
  const description = "Loyalty discount";
  return [...lines, { description, quantity: "1", unitPriceMinor: discount, taxRateBasisPoints }];
}

function sampleLine(tenant: SampleTenant, item: SampleItem, random: Random): InvoiceLine {
  const steps = 10 ** item.decimals;
  const quantity = random.whole(1, item.most * steps) / steps;
  const [usualRate = 0] = tenant.taxRates;
  return {
    description: item.description,
    quantity: quantity.toFixed(item.decimals),
    ...(item.unit === undefined ? {} : { unit: item.unit }),
    unitPriceMinor: item.price * tenant.minorPerUnit,
    taxRateBasisPoints: random.isOneIn(3) ? random.pick(tenant.taxRates) : usualRate,
  };
}

function samplePayment(invoice: InvoiceDraft, random: Random): PaymentWebhookPayload {
  const { invoiceId, currency } = invoice;
  const paidAtMs = Date.parse(invoice.issuedOn) + random.whole(1, 20 * 24 * 60) * MINUTE_MS;
  return {
    eventId: `evt_${invoiceId}`,
    invoiceId,
    amountMinor: computeTotals(invoice.lines).totalMinor,
    currency,
    paidAt: new Date(paidAtMs).toISOString(),
    method: random.pick(METHODS),
  };
}

const MOST_CHARGED = 99_999_999;
/** The provider's cards for tests that are never refused. */
const CARDS = ["pm_card_visa", "pm_card_mastercard", "pm_card_amex"];
const METHODS = [
  "Visa ending 4242",
  "Mastercard ending 5454",
  "SEPA direct debit",
  "Bank transfer",
];
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Random numbers that a seed repeats (mulberry32). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Both ends included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.#next() * (max - min + 1));
  }

  isOneIn(count: number): boolean {
    return this.whole(1, count) === 1;
  }

  pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item {
    return items[this.whole(0, items.length - 1)] as Item;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
