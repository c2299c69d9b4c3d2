/** Charges an invoice, once. */

import {
  type ChildJob,
  defineJob,
  type Effect,
  type JobContext,
  type JobDefinition,
  type JobHandler,
  NotSentError,
  PermanentJobError,
  RejectedError,
  RetryLaterError,
} from "@leasehold/job";
import { z } from "zod";
import { type Invoice, isPaid, type PaidInvoice } from "../invoice/invoice.ts";
import type { InvoiceKey, InvoiceStore, PaymentOutcome } from "../invoice/invoice-store.ts";
import { type ChargeRecovery, chargeEffect } from "../payment/charge-effect.ts";
import {
  type BookableCharge,
  type InvoiceCharge,
  type PaymentMeans,
  paymentOf,
} from "../payment/charge-invoice.ts";
import type { Charged, PaymentProvider } from "../payment/payment-provider.ts";
import { invoiceId, line } from "./payload-rules.ts";
import { receiptJob } from "./render-receipt.ts";
import { untilIssuedMs } from "./until-issued.ts";

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

/** What it needs. */
export interface CapturePaymentParts {
  readonly invoices: InvoiceStore;
  readonly payments: PaymentProvider;
  /** What to do with a charge of unknown outcome. @defaultValue "replay" */
  readonly chargeRecovery?: ChargeRecovery;
}

/**
 * The job that charges this version of the invoice. Asking again asks for the same job, also with
 * other means: what an invoice is paid by is decided once, and a second charge needs a new version.
 */
export function captureJob(
  { invoiceId, version }: Pick<Invoice, "invoiceId" | "version">,
  means: PaymentMeans,
): ChildJob & { readonly jobId: string } {
  return {
    type: "payment.capture",
    jobId: captureId(invoiceId, version),
    payload: { invoiceId, version, ...means } satisfies CapturePaymentPayload,
  };
}

/**
 * `payment.capture`: its job id is made of the invoice's id and version; another one is refused,
 * because two jobs would be two charges. The charge is an effect of the job ledger. Booking it and
 * asking for the receipt come after it, and are the same however often they are repeated.
 *
 * A refused card ends the job for good, as a dead letter with the provider's reason: nothing but
 * somebody's other card changes it, and an operator who sends the job again gets the stored refusal
 * and no second charge. An invoice that was paid otherwise before its charge began is not charged.
 */
export function capturePayment(
  parts: CapturePaymentParts,
): JobDefinition<"payment.capture", unknown, CapturePaymentPayload> {
  return defineJob({
    type: "payment.capture",
    schema: capturePaymentPayload,
    handler: captureHandler(parts),
  });
}

const OTHERWISE_PAID = "paid_otherwise";
const SUPERSEDED = "superseded";

function captureHandler(parts: CapturePaymentParts): JobHandler<CapturePaymentPayload> {
  return async ({ tenantId, jobId, createdAtMs, payload }, context) => {
    const { invoiceId, version, ...means } = payload;
    if (jobId !== captureId(invoiceId, version)) {
      throw new PermanentJobError(
        `the job id must be made of the invoice and its version, ${captureId(invoiceId, version)}`,
      );
    }
    const key = { tenantId, invoiceId };
    const invoice = await findInvoice(parts, key, version, context);
    const { totalMinor: amountMinor, currency } = invoice;
    // Of the version that is charged, also when its payment has made another one since: the provider
    // is told the very same in every attempt.
    const charge = { invoice: { ...invoice, version }, means, jobCreatedAtMs: createdAtMs };
    let charged: BookableCharge;
    try {
      const effect = chargeOnceOpen(parts, charge, context);
      charged = await context.once("charge", { ...payload, amountMinor, currency }, effect);
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      return context.done(refused(error, payload, context));
    }
    const outcome = await parts.invoices.pay(key, paymentOf(charged));
    const receipt = await context.send("receipt", receiptJob(booked(outcome, charged, context)));
    context.log.info("payment captured", {
      ...{ invoice_id: invoiceId, payment_id: charged.paymentId, outcome: outcome.kind },
      receipt_job_id: receipt.jobId,
    });
    return context.done(outcome.kind);
  };
}

async function findInvoice(
  { invoices }: CapturePaymentParts,
  key: InvoiceKey,
  version: number,
  context: JobContext,
): Promise<Invoice> {
  const invoice = await invoices.find(key);
  if (invoice === undefined) {
    const waitMs = untilIssuedMs(context.receiveCount);
    throw new RetryLaterError(waitMs, "the invoice has not been issued yet");
  }
  if (invoice.version < version) {
    throw new PermanentJobError(
      `the invoice has no version ${version}, it is at ${invoice.version}`,
    );
  }
  return invoice;
}

/** The charge, looking once more before the first attempt whether it is still wanted. */
function chargeOnceOpen(
  { invoices, payments, chargeRecovery }: CapturePaymentParts,
  charge: InvoiceCharge,
  context: JobContext,
): Effect<Charged, BookableCharge> {
  const { tenantId, invoiceId, version } = charge.invoice;
  const alarm = (paymentIds: readonly string[]) =>
    context.log.error("charged more than once: refund these payments", {
      ...{ invoice_id: invoiceId, payment_ids: paymentIds.join(" "), alarm: true },
    });
  const effect = chargeEffect({ provider: payments, alarm }, charge, chargeRecovery);
  return {
    ...effect,
    run: async (call) => {
      // Later attempts find out what became of the first one, whatever the invoice says by now.
      if (call.attempt === 1)
        refuseUnwanted(await lookAgain(invoices, { tenantId, invoiceId }), version);
      return await effect.run(call);
    },
  };
}

async function lookAgain(invoices: InvoiceStore, key: InvoiceKey): Promise<Invoice | undefined> {
  try {
    return await invoices.find(key);
  } catch (cause) {
    throw new NotSentError("the invoice could not be read before its charge", { cause });
  }
}

function refuseUnwanted(invoice: Invoice | undefined, version: number): void {
  if (invoice !== undefined && isPaid(invoice)) {
    throw new RejectedError(OTHERWISE_PAID, `it was paid by event ${invoice.payment.eventId}`);
  }
  if (invoice?.version !== version) {
    throw new RejectedError(SUPERSEDED, "the invoice has changed since it was to be charged");
  }
}

/** @throws PermanentJobError when the provider has refused the card */
function refused(
  error: RejectedError,
  { invoiceId, version }: CapturePaymentPayload,
  context: JobContext,
): string {
  if (error.reason === OTHERWISE_PAID || error.reason === SUPERSEDED) {
    context.log.info("payment not captured", { invoice_id: invoiceId, version, why: error.reason });
    return error.reason;
  }
  throw new PermanentJobError(error.message, { cause: error });
}

/** The invoice with this payment, or the refusal that the outcome means. The money has moved. */
function booked(
  outcome: PaymentOutcome,
  { paymentId }: BookableCharge,
  context: JobContext,
): PaidInvoice {
  switch (outcome.kind) {
    case "paid":
    case "already-paid":
      return outcome.invoice;
    case "not-found":
    case "amount-mismatch":
    case "paid-by-other-event": {
      context.log.error("a charge could not be booked: refund it", {
        ...{ payment_id: paymentId, outcome: outcome.kind, alarm: true },
      });
      throw new PermanentJobError(
        `payment ${paymentId} was charged and cannot be booked (${outcome.kind}): refund it`,
      );
    }
  }
}

function captureId(invoiceId: string, version: number): string {
  return `capture-${invoiceId}-${version}`;
}
