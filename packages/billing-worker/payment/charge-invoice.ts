/** Charges an invoice under a provider key, and finds out what became of an earlier charge. */

import type { Invoice, Payment } from "../invoice/invoice.ts";
import type { ChargeAnswer, Charged, FindAnswer, PaymentProvider } from "./payment-provider.ts";

/** How long the provider may take. Both together are what one attempt at a charge may take. */
export interface ChargeLimits {
  /** For the charge itself. */
  readonly chargeMs: number;
  /** For a look at its books. */
  readonly findMs: number;
}

/** What fits Stripe; a drill, which waits for the ends of such times, takes shorter ones. */
export const CHARGE_LIMITS: ChargeLimits = Object.freeze({ chargeMs: 15_000, findMs: 10_000 });

/** The longest that `chargeInvoice` takes, for the effect that it is the `run` of. */
export const CHARGE_TIMEOUT_MS: number = CHARGE_LIMITS.chargeMs + CHARGE_LIMITS.findMs;

/**
 * How long the provider is trusted to know a key. Stripe may forget it after 24 hours, counted from
 * its own clock; the hour between is for clocks that differ and for the attempt itself.
 * @see Stripe API Reference, "Idempotent requests"
 */
export const KEY_WINDOW_MS: number = 23 * 60 * 60 * 1000;

/** How far the clocks of a producer and of the provider may lie apart. */
const CLOCK_SLACK_MS = 60 * 60 * 1000;

/** How an invoice is to be paid. */
export interface PaymentMeans {
  /** The provider's id, for example `pm_...`. */
  readonly paymentMethod: string;
  /** The provider's id of the customer whom it belongs to. */
  readonly customer?: string;
}

/** One attempt at a charge. */
export interface ChargeCall {
  /** The same in every attempt. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** How often the charge may have been sent, this attempt included. */
  readonly attempt: number;
}

/** What is charged, and by what. */
export interface InvoiceCharge {
  /** In the version that the charge is for. */
  readonly invoice: Invoice;
  readonly means: PaymentMeans;
  /** When the job was made: nothing can have been sent before. */
  readonly jobCreatedAtMs: number;
  /** @defaultValue `CHARGE_LIMITS` */
  readonly limits?: ChargeLimits;
}

/**
 * Charges the invoice's total. When all that the provider will ever answer under this key is that it
 * does not know, its books are asked, since only they can tell then.
 */
export async function chargeInvoice(
  provider: PaymentProvider,
  charge: InvoiceCharge,
  call: ChargeCall,
): Promise<ChargeAnswer> {
  const { invoice, means, limits = CHARGE_LIMITS } = charge;
  const answer = await provider.charge({
    ...means,
    key: call.key,
    tenantId: invoice.tenantId,
    invoiceId: invoice.invoiceId,
    invoiceVersion: invoice.version,
    amountMinor: invoice.totalMinor,
    currency: invoice.currency,
    isFirstAttempt: call.attempt === 1,
    timeoutMs: limits.chargeMs,
    signal: call.signal,
  });
  if (answer.kind !== "unknown" || !answer.isStored) return answer;
  const found = await findCharge(provider, charge, call);
  // Absent proves nothing here: the provider itself does not know what it has done.
  return found.kind === "charged" || found.kind === "rejected" ? found : answer;
}

/** What the provider's books say about the charge under this key. */
export function findCharge(
  provider: PaymentProvider,
  { means: { customer }, jobCreatedAtMs, limits = CHARGE_LIMITS }: InvoiceCharge,
  { key, signal }: Pick<ChargeCall, "key" | "signal">,
): Promise<FindAnswer> {
  return provider.find({
    key,
    ...(customer === undefined ? {} : { customer }),
    sinceAtMs: jobCreatedAtMs - CLOCK_SLACK_MS,
    timeoutMs: limits.findMs,
    signal,
  });
}

/** What of a charge is kept: the same however it was learnt of. */
export type BookableCharge = Omit<Charged, "kind" | "isReplay" | "duplicatePaymentIds">;

/**
 * The charge as it is booked on the invoice: the same in every run, and known again in the event
 * by which the provider reports it.
 */
export function paymentOf(charged: BookableCharge): Payment {
  const { paymentId, amountMinor, currency, chargedAtMs, method } = charged;
  const paidAt = new Date(chargedAtMs).toISOString();
  return { eventId: paymentId, paymentId, amountMinor, currency, paidAt, method };
}
