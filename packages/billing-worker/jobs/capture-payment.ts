/** The job that charges an invoice: its payload and its identity. */

import type { ChildJob } from "@leasehold/job";
import { z } from "zod";
import type { Invoice } from "../invoice/invoice.ts";
import type { PaymentMeans } from "../payment/charge-invoice.ts";
import { invoiceId, line } from "./payload-rules.ts";

/** Which invoice, as of which change, and by what; the amount is the invoice's own. */
export interface CapturePaymentPayload extends PaymentMeans {
  readonly invoiceId: string;
  readonly version: number;
}

/** What is asked when an invoice is to be charged. */
export const capturePaymentPayload: z.ZodType<CapturePaymentPayload> = z.object({
  invoiceId,
  version: z.int().min(1),
  paymentMethod: line(200),
  customer: line(200).exactOptional(),
});

/**
 * The job that charges this version of the invoice. Asking again asks for the same job, also with
 * other means: what an invoice is paid by is decided once, and a second charge needs a new version.
 */
export function captureJob({ invoiceId, version }: Invoice, means: PaymentMeans): ChildJob {
  return {
    type: "payment.capture",
    jobId: `capture-${invoiceId}-${version}`,
    payload: { invoiceId, version, ...means } satisfies CapturePaymentPayload,
  };
}
