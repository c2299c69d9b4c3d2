/** Port: invoices and what was paid; every write is conditional, so repeating it changes nothing. */

import type { Invoice, IssuedInvoice, PaidInvoice, Payment } from "./invoice.ts";

/** Which invoice: invoice ids are unique within a tenant. */
export interface InvoiceKey {
  readonly tenantId: string;
  readonly invoiceId: string;
}

/** What became of an invoice that was to be issued. */
export type IssueOutcome =
  | { readonly kind: "issued" }
  /** The very same invoice was there already; nothing was written. */
  | { readonly kind: "unchanged" }
  /** Another invoice has this id; nothing was written. */
  | { readonly kind: "conflict" };

/** What became of a payment. All but `paid` wrote nothing. */
export type PaymentOutcome =
  | { readonly kind: "paid"; readonly invoice: PaidInvoice }
  /** The same event had paid it before, or another one about the same payment. */
  | { readonly kind: "already-paid"; readonly invoice: PaidInvoice }
  | { readonly kind: "paid-by-other-event"; readonly eventId: string }
  | { readonly kind: "amount-mismatch"; readonly invoice: Invoice }
  | { readonly kind: "not-found" };

/** Where invoices live. Reads see every write that was confirmed before. */
export interface InvoiceStore {
  issue(invoice: IssuedInvoice): Promise<IssueOutcome>;
  find(key: InvoiceKey): Promise<Invoice | undefined>;
  /** Turns an open invoice into a paid one when currency and amount are exactly its total. */
  pay(key: InvoiceKey, payment: Payment): Promise<PaymentOutcome>;
}

/** What a payment means for the invoice as it is stored; `undefined` says that it may be booked. */
export function judgePayment(
  invoice: Invoice | undefined,
  payment: Payment,
): PaymentOutcome | undefined {
  if (invoice === undefined) return { kind: "not-found" };
  const { payment: earlier } = invoice;
  if (earlier !== undefined && !isSamePayment(earlier, payment)) {
    return { kind: "paid-by-other-event", eventId: earlier.eventId };
  }
  if (invoice.currency !== payment.currency || invoice.totalMinor !== payment.amountMinor) {
    return { kind: "amount-mismatch", invoice };
  }
  if (earlier === undefined) return undefined;
  return { kind: "already-paid", invoice: { ...invoice, payment: earlier } };
}

/** A charge of this service comes back as the provider's event, with another event id. */
function isSamePayment(earlier: Payment, payment: Payment): boolean {
  if (earlier.eventId === payment.eventId) return true;
  return payment.paymentId !== undefined && earlier.paymentId === payment.paymentId;
}
