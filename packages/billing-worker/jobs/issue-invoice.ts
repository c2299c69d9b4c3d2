/** Computes and stores an invoice. */

import { defineJob, type JobDefinition, type JobHandler, PermanentJobError } from "@leasehold/job";
import { z } from "zod";
import { InvoiceAmountError } from "../errors.ts";
import type { InvoiceDraft, InvoiceTotals } from "../invoice/invoice.ts";
import { computeTotals } from "../invoice/invoice-math.ts";
import type { InvoiceStore } from "../invoice/invoice-store.ts";
import { currency, invoiceId, line, locale, minorUnits, quantity } from "./payload-rules.ts";

/**
 * Together with the longest texts an invoice stays below 400 KB, the largest item of DynamoDB.
 * @see DynamoDB Developer Guide, "Quotas in Amazon DynamoDB"
 */
const MAX_LINES = 500;
const MAX_TAX_BASIS_POINTS = 10_000;

const party = z.object({
  name: line(80),
  addressLines: z.array(line(60)).min(1).max(6),
  taxId: line(40).exactOptional(),
  email: line(80).exactOptional(),
});

const invoiceLine = z.object({
  description: line(120),
  quantity,
  unit: line(12).exactOptional(),
  unitPriceMinor: minorUnits,
  taxRateBasisPoints: z.int().min(0).max(MAX_TAX_BASIS_POINTS),
});

/** An invoice as it is asked for. */
export const issueInvoicePayload: z.ZodType<InvoiceDraft> = z.object({
  invoiceId,
  issuedOn: z.iso.date(),
  dueOn: z.iso.date(),
  currency,
  locale,
  seller: party,
  buyer: party,
  lines: z.array(invoiceLine).min(1).max(MAX_LINES),
  note: line(400).exactOptional(),
});

/** What it needs. */
export interface IssueInvoiceParts {
  readonly invoices: InvoiceStore;
}

/**
 * `invoice.issue`: its job id is the invoice's id. The same invoice again changes nothing; another
 * one under the same id is refused for good, because somebody may have paid the first.
 */
export function issueInvoice(
  parts: IssueInvoiceParts,
): JobDefinition<"invoice.issue", unknown, InvoiceDraft> {
  return defineJob({
    type: "invoice.issue",
    schema: issueInvoicePayload,
    handler: issueHandler(parts),
  });
}

function issueHandler({ invoices }: IssueInvoiceParts): JobHandler<InvoiceDraft> {
  return async ({ tenantId, payload }, context) => {
    const outcome = await invoices.issue({ tenantId, ...payload, ...totalsOf(payload) });
    if (outcome.kind === "conflict") {
      throw new PermanentJobError("another invoice was issued under this id");
    }
    context.log.info("invoice issued", {
      invoice_id: payload.invoiceId,
      lines: payload.lines.length,
      outcome: outcome.kind,
    });
    return context.done(outcome);
  };
}

function totalsOf({ lines }: InvoiceDraft): InvoiceTotals {
  try {
    return computeTotals(lines);
  } catch (error) {
    if (!(error instanceof InvoiceAmountError)) throw error;
    throw new PermanentJobError(error.message, { cause: error });
  }
}
