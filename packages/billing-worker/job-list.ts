/** Every job of this service. */

import type { AnyJobDefinition } from "@leasehold/job";
import { type CapturePaymentParts, capturePayment } from "./jobs/capture-payment.ts";
import { issueInvoice } from "./jobs/issue-invoice.ts";
import { paymentWebhook } from "./jobs/payment-webhook.ts";
import { type RenderReceiptParts, renderReceiptJob } from "./jobs/render-receipt.ts";

/** What the jobs need between them. */
export type BillingParts = RenderReceiptParts & CapturePaymentParts;

/** The jobs over their stores, the payment provider and the render pool. */
export function billingJobs(parts: BillingParts): readonly AnyJobDefinition[] {
  return [
    issueInvoice(parts),
    capturePayment(parts),
    paymentWebhook(parts),
    renderReceiptJob(parts),
  ];
}
