/** Port: charges an invoice under a key, and finds what became of a charge by its key. */

import type { CurrencyCode } from "../invoice/money.ts";

/** How long a call may take in all, and what ends it earlier. */
export interface CallBounds {
  /** Of the whole call: name lookup, connection, request and answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** One charge. The same key must always come with the same values. */
export interface ChargeRequest extends CallBounds {
  /** The provider key of the effect; the same in every attempt, at most 255 characters. */
  readonly key: string;
  readonly tenantId: string;
  readonly invoiceId: string;
  readonly invoiceVersion: number;
  readonly amountMinor: number;
  readonly currency: CurrencyCode;
  /** The provider's id of the means of payment, for example `pm_...`. */
  readonly paymentMethod: string;
  /** The provider's id of the customer whom the means of payment belongs to. */
  readonly customer?: string;
  /** Whether nothing can have been sent under this key before. When in doubt, `false`. */
  readonly isFirstAttempt: boolean;
}

/** Money that has moved. */
export interface Charged {
  readonly kind: "charged";
  /** The provider's id of the payment. */
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly currency: CurrencyCode;
  /** When the provider took it, Unix time; the same in every answer about it. */
  readonly chargedAtMs: number;
  /** As it is printed, for example `"Visa ending 4242"`. */
  readonly method: string;
  /** Whether an earlier request under this key had moved it. */
  readonly isReplay: boolean;
  /** Other payments found under the same key, made later: each is money taken once too often. */
  readonly duplicatePaymentIds: readonly string[];
}

/** The provider has said no, and says the same whenever it is asked under this key. */
export interface ChargeRejected {
  readonly kind: "rejected";
  /** The provider's word for it, for example `insufficient_funds`. */
  readonly reason: string;
  readonly paymentId?: string;
}

/** Nobody knows whether money moved: it may have, and it may still do so later. */
export interface ChargeUnknown {
  readonly kind: "unknown";
  /** For example `timed-out`, `key-in-use`, `http-500`. */
  readonly reason: string;
  /** Whether the provider has stored this very answer, so that repeating the request cannot help. */
  readonly isStored: boolean;
  readonly cause?: Error;
}

/**
 * This request moved no money and never will. When it was the first under its key, the key is as
 * unused as before; after an earlier attempt, only that attempt can have moved any.
 */
export interface ChargeNotApplied {
  readonly kind: "not-applied";
  /**
   * `unsent`: no connection, so not one byte of the only attempt was written. `rate-limited`: turned
   * away before the key was looked at. `misconfigured`: the credentials are refused, and will be
   * until somebody changes them.
   */
  readonly why: "unsent" | "rate-limited" | "misconfigured";
  /** What to do about it or what happened, without secrets. */
  readonly problem: string;
  /** How long the provider asks to wait; absent when it does not say. */
  readonly retryAfterMs?: number;
  readonly cause?: Error;
}

/** What became of a request to charge. */
export type ChargeAnswer = Charged | ChargeRejected | ChargeUnknown | ChargeNotApplied;

/** Which charge to look for. */
export interface FindRequest extends CallBounds {
  readonly key: string;
  /** A moment before the first send, Unix time: nothing older is looked at. */
  readonly sinceAtMs: number;
  readonly customer?: string;
}

/** What the provider's books say. `absent` is as of now: what lands later is not excluded. */
export type FindAnswer =
  | Charged
  | ChargeRejected
  | { readonly kind: "absent" }
  | { readonly kind: "unknown"; readonly reason: string; readonly cause?: Error };

/** Who moves the money. Neither call rejects for anything that happens on the way or there. */
export interface PaymentProvider {
  charge(request: ChargeRequest): Promise<ChargeAnswer>;
  find(request: FindRequest): Promise<FindAnswer>;
}
