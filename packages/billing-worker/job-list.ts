/** Every job of this service. */

import type { AnyJobDefinition } from "@leasehold/job";
import { issueInvoice } from "./jobs/issue-invoice.ts";
import { paymentWebhook } from "./jobs/payment-webhook.ts";
import { type RenderReceiptParts, renderReceiptJob } from "./jobs/render-receipt.ts";

/** What the jobs need between them. */
export type BillingParts = RenderReceiptParts;

/** The jobs over their stores and the render pool. */
export function billingJobs(parts: BillingParts): readonly AnyJobDefinition[] {
  return [issueInvoice(parts), paymentWebhook(parts), renderReceiptJob(parts)];
}
