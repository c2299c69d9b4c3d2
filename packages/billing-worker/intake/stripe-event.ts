/** What a webhook of Stripe says, once its signature has been proved on its raw body. */

import type { Clock } from "@leasehold/clock";
import Stripe from "stripe";
import { type PaymentWebhookPayload, paymentWebhookPayload } from "../jobs/payment-webhook.ts";

/** What a delivery turned out to be. */
export type StripeDelivery =
  | {
      readonly kind: "payment";
      readonly tenantId: string;
      readonly payload: PaymentWebhookPayload;
    }
  /** Signed, and nothing for this service: Stripe is to be told that it has arrived. */
  | { readonly kind: "ignored"; readonly why: string }
  /** Not signed with the secret, or too long ago: nothing in it is to be believed. */
  | { readonly kind: "unsigned" };

const SECOND_MS = 1_000;

/**
 * Reads a delivery.
 *
 * @param rawBody - byte for byte as it came: the signature is over these bytes
 * @see Stripe, "Receive Stripe events in your webhook endpoint"
 */
export function readStripeEvent(
  rawBody: Uint8Array,
  signature: string,
  secret: string,
  clock: Clock,
): StripeDelivery {
  const nowMs = clock.wallMs();
  let event: Stripe.Event;
  try {
    event = Stripe.webhooks.constructEvent(
      rawBody,
      signature,
      secret,
      Stripe.webhooks.DEFAULT_TOLERANCE,
      undefined,
      nowMs,
    );
  } catch {
    return { kind: "unsigned" }; // whatever the SDK says, it may quote the body
  }
  if (event.type !== "payment_intent.succeeded") return { kind: "ignored", why: event.type };
  return paymentOf(event.id, event.created, event.data.object);
}

function paymentOf(
  eventId: string,
  createdSeconds: number,
  intent: Stripe.PaymentIntent,
): StripeDelivery {
  const { tenant_id: tenantId, invoice_id: invoiceId } = intent.metadata ?? {};
  if (tenantId === undefined || invoiceId === undefined) {
    return { kind: "ignored", why: "a payment without tenant_id and invoice_id in its metadata" };
  }
  const [type = "unknown"] = intent.payment_method_types ?? [];
  const checked = paymentWebhookPayload.safeParse({
    ...{ eventId, paymentId: intent.id, invoiceId, amountMinor: intent.amount_received },
    currency: intent.currency.toUpperCase(),
    paidAt: new Date(createdSeconds * SECOND_MS).toISOString(),
    method: type.replaceAll("_", " "),
  });
  if (!checked.success) return { kind: "ignored", why: "a payment that no invoice here can have" };
  return { kind: "payment", tenantId, payload: checked.data };
}
