/** What an answer of Stripe, or the lack of one, says about the money. Pure. */

import { retryAfterMs } from "@leasehold/job";
import type { CurrencyCode } from "../invoice/money.ts";
import type { ChargeAnswer, Charged } from "./payment-provider.ts";

/** The fields of the SDK's errors that decide. */
export interface StripeFailure {
  /** The class's name, for example `StripeCardError`. */
  readonly type: string;
  readonly message: string;
  /** `type` of Stripe's error body, for example `idempotency_error`. */
  readonly rawType?: string | undefined;
  /** Absent when no answer came. */
  readonly statusCode?: number | undefined;
  readonly code?: string | undefined;
  readonly decline_code?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payment_intent?: { readonly id: string } | undefined;
}

/** How the call went, beside its error. */
export interface CallCircumstances {
  /** Whether there was a connection. */
  readonly mayHaveSent: boolean;
  readonly isFirstAttempt: boolean;
  /** Why it ended early, when it did. */
  readonly endedBy?: "timed-out" | "stopped";
}

/** How it was paid, in the fields that are printed. */
export interface StripePaymentMethod {
  readonly type: string;
  readonly card?: { readonly brand: string; readonly last4: string } | null;
}

/** The fields of a payment intent that decide. */
export interface StripeIntent {
  readonly id: string;
  readonly status: string;
  readonly amount_received: number;
  readonly currency: string;
  /** Unix time in seconds. A payment that is confirmed as it is made is charged then. */
  readonly created: number;
  /** An object, because it was asked for. */
  readonly payment_method?: StripePaymentMethod | string | null;
  readonly last_payment_error?: { readonly code?: string; readonly decline_code?: string } | null;
}

/**
 * Only what Stripe documents as final or as not executed is told as such; all else is unknown.
 *
 * - 402 is the card's answer, stored under the key.
 * - 401, 403 and 429 come before the key is looked at. A `lock_timeout` is a 429 as well, but comes
 *   from within the endpoint.
 * - 409 means that another request with the key is being executed; `idempotency_error` that one with
 *   other parameters was. Either may have moved money, so neither is a refusal.
 * - Any other 4xx refuses the parameters. Validation is not stored, so after an earlier attempt a
 *   fresh refusal says nothing about that one; a replayed one is the key's answer.
 * - 5xx is "indeterminate", and replayed as long as the key is kept.
 *
 * @see Stripe, "Advanced error handling" and "Idempotent requests"; "Error codes", `lock_timeout`
 */
export function failedCharge(error: StripeFailure, call: CallCircumstances): ChargeAnswer {
  const { statusCode } = error;
  if (statusCode === undefined) return withoutAnswer(error, call);
  if (statusCode === 401 || statusCode === 403) {
    const problem = `Stripe refuses the credentials with HTTP ${statusCode}: check STRIPE_SECRET_KEY`;
    return { kind: "not-applied", why: "misconfigured", problem };
  }
  if (statusCode === 429 && error.code !== "lock_timeout") return rateLimited(error);
  if (statusCode === 402) return rejected(error);
  if (error.rawType === "idempotency_error") return unknown("key-used-otherwise", true, error);
  if (statusCode === 409) return unknown("key-in-use", false, error);
  if (statusCode === 400 || statusCode === 404) {
    if (call.isFirstAttempt || isReplayed(error.headers)) return rejected(error);
    return unknown(`refused-after-an-attempt: ${error.code ?? statusCode}`, false, error);
  }
  return unknown(error.code ?? `http-${statusCode}`, isStored(error.headers), error);
}

/** What an intent says that the request under the key has made. */
export function chargeOf(intent: StripeIntent, isReplay: boolean): ChargeAnswer {
  if (intent.status === "succeeded") return charged(intent, isReplay);
  const { id: paymentId, last_payment_error: decline } = intent;
  if (intent.status === "canceled") return { kind: "rejected", reason: "canceled", paymentId };
  if (intent.status === "requires_payment_method" && decline) {
    const reason = decline.decline_code ?? decline.code ?? intent.status;
    return { kind: "rejected", reason, paymentId };
  }
  // `processing` and the like: the answer under the key stays this one, only the intent moves on.
  return { kind: "unknown", reason: intent.status, isStored: true };
}

/** Whether Stripe took the answer from what it has stored under the key. */
export function isReplayed(headers: Readonly<Record<string, string>> | undefined): boolean {
  return headers?.["idempotent-replayed"] === "true";
}

function charged(intent: StripeIntent, isReplay: boolean): Charged {
  return {
    kind: "charged",
    paymentId: intent.id,
    amountMinor: intent.amount_received,
    currency: intent.currency.toUpperCase() as CurrencyCode,
    chargedAtMs: intent.created * 1000,
    method: printedMethod(intent.payment_method),
    isReplay,
    duplicatePaymentIds: [],
  };
}

const BRANDS: Readonly<Record<string, string>> = {
  amex: "American Express",
  diners: "Diners Club",
  discover: "Discover",
  jcb: "JCB",
  mastercard: "Mastercard",
  unionpay: "UnionPay",
  visa: "Visa",
};

function printedMethod(method: StripeIntent["payment_method"]): string {
  const card = typeof method === "object" ? method?.card : undefined;
  if (card === undefined || card === null) return "Card";
  return `${BRANDS[card.brand] ?? "Card"} ending ${card.last4}`;
}

function withoutAnswer(error: StripeFailure, call: CallCircumstances): ChargeAnswer {
  const isConnection = error.type === "StripeConnectionError";
  if (isConnection && !call.mayHaveSent) {
    const problem = `no connection to the payment provider (${call.endedBy ?? causeOf(error)})`;
    return { kind: "not-applied", why: "unsent", problem, ...withCause(error) };
  }
  const reason = isConnection ? "connection-lost" : "unreadable-answer";
  return unknown(call.endedBy ?? reason, false, error);
}

function rejected(error: StripeFailure): ChargeAnswer {
  const { payment_intent: intent } = error;
  return {
    kind: "rejected",
    reason: error.decline_code || error.code || `http-${error.statusCode}`,
    ...(intent === undefined ? {} : { paymentId: intent.id }),
  };
}

function rateLimited({ headers }: StripeFailure): ChargeAnswer {
  const askedMs = retryAfterMs({ retryAfter: headers?.["retry-after"], date: headers?.["date"] });
  return {
    kind: "not-applied",
    why: "rate-limited",
    problem: "Stripe's rate limit is reached",
    ...(askedMs === undefined ? {} : { retryAfterMs: askedMs }),
  };
}

function unknown(reason: string, stored: boolean, error: StripeFailure): ChargeAnswer {
  return { kind: "unknown", reason, isStored: stored, ...withCause(error) };
}

/** `stripe-should-retry: false` says that repeating the request would only replay the answer. */
function isStored(headers: StripeFailure["headers"]): boolean {
  return isReplayed(headers) || headers?.["stripe-should-retry"] === "false";
}

function withCause(error: StripeFailure): { readonly cause?: Error } {
  return error instanceof Error ? { cause: error } : {};
}

/** The system's word for it, for example `ECONNREFUSED`. */
function causeOf(error: StripeFailure): string {
  const { detail } = error as { readonly detail?: unknown };
  const { code, message } = ((detail as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException;
  return code ?? message ?? error.message;
}
