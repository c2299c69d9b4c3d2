/** A payment was reported: marks the invoice paid and asks for its receipt. */

import {
  defineJob,
  type JobContext,
  type JobDefinition,
  type JobHandler,
  PermanentJobError,
  RetryLaterError,
} from "@leasehold/job";
import { z } from "zod";
import type { PaidInvoice, Payment } from "../invoice/invoice.ts";
import type { InvoiceStore, PaymentOutcome } from "../invoice/invoice-store.ts";
import { currency, invoiceId, line, minorUnits } from "./payload-rules.ts";
import { receiptJob } from "./render-receipt.ts";
import { untilIssuedMs } from "./until-issued.ts";

/** A payment event of the provider. */
export interface PaymentWebhookPayload extends Payment {
  readonly invoiceId: string;
}

/** What a webhook becomes as a job. */
export const paymentWebhookPayload: z.ZodType<PaymentWebhookPayload> = z.object({
  eventId: line(200),
  paymentId: line(200).exactOptional(),
  invoiceId,
  amountMinor: minorUnits.min(1),
  currency,
  paidAt: z.iso.datetime(),
  method: line(60),
});

/** What it needs. */
export interface PaymentWebhookParts {
  readonly invoices: InvoiceStore;
}

/**
 * `payment.webhook`: its job id is the provider's event id, which makes every delivery of the event
 * the same job; another id is refused for good. The same event again books nothing but
 * asks for the receipt again, because the first run may have ended between the two; the receipt's
 * job has the same identity then, and rendering it twice makes the same file.
 */
export function paymentWebhook(
  parts: PaymentWebhookParts,
): JobDefinition<"payment.webhook", unknown, PaymentWebhookPayload> {
  return defineJob({
    type: "payment.webhook",
    schema: paymentWebhookPayload,
    handler: webhookHandler(parts),
  });
}

function webhookHandler({ invoices }: PaymentWebhookParts): JobHandler<PaymentWebhookPayload> {
  return async ({ tenantId, jobId, payload: { invoiceId, ...payment } }, context) => {
    if (jobId !== payment.eventId) {
      throw new PermanentJobError(`the job id must be the id of its event, ${payment.eventId}`);
    }
    const outcome = await invoices.pay({ tenantId, invoiceId }, payment);
    const invoice = paidInvoice(outcome, context);
    const receipt = await context.send("receipt", receiptJob(invoice));
    context.log.info("payment booked", {
      invoice_id: invoiceId,
      outcome: outcome.kind,
      receipt_job_id: receipt.jobId,
    });
    return context.done(outcome.kind);
  };
}

/** The paid invoice, or the refusal that the outcome means. */
function paidInvoice(outcome: PaymentOutcome, context: JobContext): PaidInvoice {
  switch (outcome.kind) {
    case "paid":
    case "already-paid":
      return outcome.invoice;
    case "not-found":
      throw new RetryLaterError(
        untilIssuedMs(context.receiveCount),
        "the invoice has not been issued yet",
      );
    case "amount-mismatch":
      throw new PermanentJobError("amount or currency of the payment differ from the invoice's");
    case "paid-by-other-event":
      throw new PermanentJobError(
        `the invoice was paid already, by event ${outcome.eventId}: refund one of the two`,
      );
  }
}
