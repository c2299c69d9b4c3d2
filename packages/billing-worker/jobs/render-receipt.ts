/** Renders and stores the receipt of a paid invoice. */

import {
  type ChildJob,
  defineJob,
  type JobDefinition,
  type JobHandler,
  PermanentJobError,
} from "@leasehold/job";
import { z } from "zod";
import { isPaid, type PaidInvoice } from "../invoice/invoice.ts";
import type { InvoiceStore } from "../invoice/invoice-store.ts";
import type { ReceiptStore } from "../receipt/receipt-store.ts";
import type { RenderPool } from "../receipt/render-pool.ts";
import { invoiceId } from "./payload-rules.ts";

/** Which invoice, and as of which change. */
export interface RenderReceiptPayload {
  readonly invoiceId: string;
  readonly version: number;
}

/** Which receipt to render; the invoice itself is read from its store. */
const renderReceiptPayload: z.ZodType<RenderReceiptPayload> = z.object({
  invoiceId,
  version: z.int().min(1),
});

/** What it needs. */
export interface RenderReceiptParts {
  readonly invoices: InvoiceStore;
  readonly receipts: ReceiptStore;
  readonly renderPool: RenderPool;
}

/** The job that renders the receipt of this very version; asking twice asks for the same job. */
export function receiptJob({ invoiceId, version }: PaidInvoice): ChildJob {
  return {
    type: "receipt.render",
    jobId: `${invoiceId}.v${version}`,
    payload: { invoiceId, version } satisfies RenderReceiptPayload,
  };
}

/**
 * `receipt.render`: its job id is the invoice's id and version. Rendering again makes the same
 * bytes, and storing them again changes nothing.
 */
export function renderReceiptJob(
  parts: RenderReceiptParts,
): JobDefinition<"receipt.render", unknown, RenderReceiptPayload> {
  return defineJob({
    type: "receipt.render",
    schema: renderReceiptPayload,
    handler: renderHandler(parts),
  });
}

function renderHandler(parts: RenderReceiptParts): JobHandler<RenderReceiptPayload> {
  const { invoices, receipts, renderPool } = parts;
  return async ({ tenantId, payload: { invoiceId, version } }, context) => {
    const key = { tenantId, invoiceId };
    const invoice = await invoices.find(key);
    if (invoice === undefined || invoice.version < version) {
      throw new PermanentJobError("the invoice does not have this version");
    }
    if (invoice.version > version) {
      // The change that made the newer version has asked for its own receipt.
      context.log.info("receipt superseded", { invoice_id: invoiceId, version });
      return context.done("superseded");
    }
    if (!isPaid(invoice)) throw new PermanentJobError("the invoice is not paid");
    const pdf = await renderPool.render(invoice, context.signal);
    // A whole receipt may be stored even when the lease is gone: it is the same one for everybody.
    const outcome = await receipts.put(key, pdf);
    context.log.info("receipt written", { invoice_id: invoiceId, bytes: pdf.length, outcome });
    return context.done(outcome);
  };
}
