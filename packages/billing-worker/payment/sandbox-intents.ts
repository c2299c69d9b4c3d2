/** Payment intents: how they are made, confirmed, captured and canceled, and how they look. Pure. */

import { randomUUID } from "node:crypto";
import { testCard } from "./sandbox-cards.ts";
import type {
  Decline,
  SandboxAnswer,
  SandboxChange,
  SandboxCharge,
  SandboxIntent,
} from "./sandbox-change.ts";
import type { SandboxParameters } from "./sandbox-parameters.ts";
import { docUrl, noSuch, unexpectedState } from "./sandbox-refusal.ts";

/** Under which key a request moves money, and when. */
export interface Moment {
  readonly key: string;
  /** Unix time. */
  readonly nowMs: number;
}

/** A moment, and how the answer is wanted. */
export interface Occasion extends Moment {
  /** Whether the payment method is shown as an object. */
  readonly isExpanded: boolean;
}

/** What a request did: its answer, and what it changed. */
export interface Outcome {
  readonly answer: SandboxAnswer;
  readonly changes: readonly SandboxChange[];
}

/** Executes a request whose parameters were found valid; nothing has changed before it is called. */
export type Move = (occasion: Occasion) => Outcome;

/** Parameters of `POST /v1/payment_intents`, as of the API version that the SDK is made for. */
export const CREATE_PARAMETERS: readonly string[] = [
  ...["amount", "currency", "confirm", "payment_method", "customer", "description", "metadata"],
  ...["capture_method", "off_session", "error_on_requires_action", "allowed_payment_method_types"],
  ...["automatic_payment_methods", "receipt_email", "statement_descriptor_suffix", "expand"],
];

/** Parameters of `POST /v1/payment_intents/:id/confirm`. */
export const CONFIRM_PARAMETERS: readonly string[] = [
  ...["payment_method", "off_session", "error_on_requires_action", "return_url", "expand"],
];

/** An id as Stripe writes it. */
export function newId(prefix: string): string {
  return `${prefix}_3${randomUUID().replaceAll("-", "").slice(0, 23)}`;
}

/** @throws SandboxRefusal for parameters that no intent can be made of */
export function prepareCreate(parameters: SandboxParameters): Move {
  const amountMinor = parameters.requiredAmount("amount");
  const currency = parameters.requiredCurrency();
  const captureMethod = parameters.word("capture_method", ["automatic", "manual"]);
  const metadata = parameters.metadata();
  const paymentMethod = knownPaymentMethod(parameters.text("payment_method"));
  const isConfirmed = parameters.flag("confirm");
  if (isConfirmed && paymentMethod === undefined) throw withoutPaymentMethod();
  return (occasion) => {
    const intent: SandboxIntent = {
      id: newId("pi"),
      status: paymentMethod === undefined ? "requires_payment_method" : "requires_confirmation",
      ...{ amountMinor, receivedMinor: 0, currency, captureMethod, metadata },
      ...optional("paymentMethod", paymentMethod),
      ...optional("customer", parameters.text("customer")),
      ...optional("description", parameters.text("description")),
      createdAtMs: occasion.nowMs,
    };
    return isConfirmed ? confirmed(intent, parameters, occasion) : changed(intent, occasion);
  };
}

/** @throws SandboxRefusal when the intent's state does not allow it */
export function prepareConfirm(intent: SandboxIntent, parameters: SandboxParameters): Move {
  refuseUnless(intent, "confirm", ["requires_confirmation", "requires_payment_method"]);
  const given = knownPaymentMethod(parameters.text("payment_method"));
  const paymentMethod = given ?? intent.paymentMethod;
  if (paymentMethod === undefined) throw withoutPaymentMethod();
  return (occasion) => confirmed({ ...intent, paymentMethod }, parameters, occasion);
}

/** @throws SandboxRefusal when the intent's state does not allow it, or the amount is too large */
export function prepareCapture(intent: SandboxIntent, parameters: SandboxParameters): Move {
  refuseUnless(intent, "capture", ["requires_capture"]);
  const amountMinor = parameters.amount("amount_to_capture") ?? intent.amountMinor;
  if (amountMinor > intent.amountMinor) {
    throw unexpectedState(
      `The amount to capture (${amountMinor}) is above the authorized ${intent.amountMinor}.`,
    );
  }
  return (occasion) => paid(intent, amountMinor, occasion);
}

/** @throws SandboxRefusal when the intent's state does not allow it */
export function prepareCancel(intent: SandboxIntent, parameters: SandboxParameters): Move {
  refuseUnless(intent, "cancel", [
    ...(["requires_payment_method", "requires_confirmation"] as const),
    ...(["requires_action", "requires_capture"] as const),
  ]);
  const reason = parameters.text("cancellation_reason");
  return (occasion) => {
    const canceledAtMs = occasion.nowMs;
    const canceled = { ...intent, status: "canceled" as const, canceledAtMs };
    return changed({ ...canceled, ...optional("cancellationReason", reason) }, occasion);
  };
}

/**
 * The intent as Stripe's API shows it, with the fields that its SDK and this service look at.
 * @param isExpanded - shows the payment method as an object instead of an id
 */
export function intentBody(
  intent: SandboxIntent,
  isExpanded = false,
): Readonly<Record<string, unknown>> {
  const { amountMinor, status, paymentMethod = null } = intent;
  return {
    id: intent.id,
    object: "payment_intent",
    allowed_payment_method_types: ["card"],
    amount: amountMinor,
    amount_capturable: status === "requires_capture" ? amountMinor : 0,
    amount_received: intent.receivedMinor,
    canceled_at: intent.canceledAtMs === undefined ? null : inSeconds(intent.canceledAtMs),
    cancellation_reason: intent.cancellationReason ?? null,
    capture_method: intent.captureMethod,
    client_secret: `${intent.id}_secret_local`,
    confirmation_method: "automatic",
    created: inSeconds(intent.createdAtMs),
    currency: intent.currency,
    customer: intent.customer ?? null,
    description: intent.description ?? null,
    last_payment_error:
      intent.lastDecline === undefined ? null : declineBody(intent, intent.lastDecline),
    latest_charge: intent.latestCharge ?? null,
    livemode: false,
    metadata: intent.metadata,
    next_action: status === "requires_action" ? { type: "use_stripe_sdk" } : null,
    payment_method: isExpanded ? paymentMethodBody(intent) : paymentMethod,
    payment_method_types: ["card"],
    status,
  };
}

function confirmed(
  intent: SandboxIntent,
  parameters: SandboxParameters,
  occasion: Occasion,
): Outcome {
  const card = testCard(intent.paymentMethod ?? "");
  if (card?.needsAuthentication === true) {
    if (!parameters.flag("off_session") && !parameters.flag("error_on_requires_action")) {
      return changed({ ...intent, status: "requires_action" }, occasion);
    }
    return declined(intent, AUTHENTICATION_REQUIRED, occasion);
  }
  if (card?.decline !== undefined) return declined(intent, card.decline, occasion);
  if (intent.captureMethod === "manual") {
    return changed({ ...intent, status: "requires_capture" }, occasion);
  }
  return paid(intent, intent.amountMinor, occasion);
}

/** @see Stripe, "Decline codes", `authentication_required` */
const AUTHENTICATION_REQUIRED: Decline = {
  code: "authentication_required",
  declineCode: "authentication_required",
  message: "Your card was declined. This transaction requires authentication.",
};

function paid(intent: SandboxIntent, amountMinor: number, occasion: Occasion): Outcome {
  const { key, nowMs } = occasion;
  const charge: SandboxCharge = {
    chargeId: newId("ch"),
    paymentId: intent.id,
    tenantId: intent.metadata["tenant_id"] ?? "",
    invoiceId: intent.metadata["invoice_id"] ?? "",
    amountMinor,
    currency: intent.currency,
    key,
    atMs: nowMs,
  };
  const succeeded: SandboxIntent = {
    ...intent,
    status: "succeeded",
    receivedMinor: amountMinor,
    latestCharge: charge.chargeId,
  };
  const { answer, changes } = changed(succeeded, occasion);
  return { answer, changes: [...changes, { kind: "charge", charge }] };
}

function declined(intent: SandboxIntent, decline: Decline, { nowMs }: Occasion): Outcome {
  const open: SandboxIntent = {
    ...intent,
    status: "requires_payment_method",
    lastDecline: decline,
    latestCharge: newId("ch"),
  };
  const error = { ...declineBody(open, decline), payment_intent: intentBody(open) };
  return {
    answer: { status: 402, body: { error } },
    changes: [{ kind: "intent", intent: open, atMs: nowMs }],
  };
}

function declineBody(intent: SandboxIntent, decline: Decline): Readonly<Record<string, unknown>> {
  return {
    charge: intent.latestCharge,
    code: decline.code,
    ...(decline.declineCode === undefined ? {} : { decline_code: decline.declineCode }),
    ...docUrl(decline.code),
    message: decline.message,
    payment_method: paymentMethodBody(intent),
    type: "card_error",
  };
}

/** `null` when the intent has none. */
function paymentMethodBody({ paymentMethod }: SandboxIntent): unknown {
  const card = testCard(paymentMethod ?? "");
  if (card === undefined) return null;
  const { brand, lastDigits: last4 } = card;
  return { id: paymentMethod, object: "payment_method", card: { brand, last4 }, type: "card" };
}

function changed(intent: SandboxIntent, { nowMs, isExpanded }: Occasion): Outcome {
  return {
    answer: { status: 200, body: intentBody(intent, isExpanded) },
    changes: [{ kind: "intent", intent, atMs: nowMs }],
  };
}

function refuseUnless(
  { status }: SandboxIntent,
  move: string,
  allowed: readonly SandboxIntent["status"][],
): void {
  if (allowed.includes(status)) return;
  throw unexpectedState(
    `You cannot ${move} this PaymentIntent because it has a status of ${status}. ` +
      `Only a PaymentIntent with one of the following statuses may be used: ${allowed.join(", ")}.`,
  );
}

function knownPaymentMethod(id: string | undefined): string | undefined {
  if (id === undefined || testCard(id) !== undefined) return id;
  throw noSuch("PaymentMethod", id, "payment_method", 400);
}

function withoutPaymentMethod() {
  return unexpectedState(
    "You cannot confirm this PaymentIntent because it's missing a payment method.",
  );
}

function optional<Name extends string>(
  name: Name,
  value: string | undefined,
): { readonly [Key in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: string };
}

function inSeconds(atMs: number): number {
  return Math.floor(atMs / 1000);
}
