/** What an invoice is: as a customer asks for it, as it is issued, and once it is paid. */

import type { CurrencyCode } from "./money.ts";

/** Who issues an invoice, or who pays it. */
export interface Party {
  readonly name: string;
  /** Street, town, country; one text for each printed line. */
  readonly addressLines: readonly string[];
  /** Tax or VAT number as it is printed. */
  readonly taxId?: string;
  readonly email?: string;
}

/** One position as it is asked for. */
export interface InvoiceLine {
  readonly description: string;
  /** A decimal text with up to three decimals, for example `"12.5"`; never a float. */
  readonly quantity: string;
  /** What the quantity counts, for example `"h"`; absent for pieces. */
  readonly unit?: string;
  /** For one unit, without tax; negative for a discount or credit. */
  readonly unitPriceMinor: number;
  /** 1900 is 19 %. */
  readonly taxRateBasisPoints: number;
}

/** An invoice as it is asked for: everything but the sums. */
export interface InvoiceDraft {
  readonly invoiceId: string;
  /** A calendar day, `YYYY-MM-DD`. */
  readonly issuedOn: string;
  readonly dueOn: string;
  readonly currency: CurrencyCode;
  /** How numbers and dates are written, for example `"en-GB"`. */
  readonly locale: string;
  readonly seller: Party;
  readonly buyer: Party;
  readonly lines: readonly InvoiceLine[];
  readonly note?: string;
}

/** A position with its amount, without tax. */
export interface BilledLine extends InvoiceLine {
  readonly netMinor: number;
}

/** What one tax rate comes to, over all lines that have it. */
export interface TaxShare {
  readonly rateBasisPoints: number;
  readonly netMinor: number;
  readonly taxMinor: number;
}

/** The sums of an invoice: `subtotal` is all nets, `total` adds all taxes. */
export interface InvoiceTotals {
  readonly lines: readonly BilledLine[];
  readonly subtotalMinor: number;
  /** One entry for each rate that occurs, lowest rate first. */
  readonly taxes: readonly TaxShare[];
  readonly totalMinor: number;
}

/** An invoice as it was issued; nothing of it ever changes. */
export interface IssuedInvoice extends Omit<InvoiceDraft, "lines">, InvoiceTotals {
  readonly tenantId: string;
}

/** A payment that the provider reported, or that this service has charged. */
export interface Payment {
  /** The provider's id of the event; the same in every delivery of it. For a charge, the payment's. */
  readonly eventId: string;
  /** The provider's id of the payment: tells that an event reports what was charged here. */
  readonly paymentId?: string;
  readonly amountMinor: number;
  readonly currency: CurrencyCode;
  /** An instant, ISO 8601 in UTC. */
  readonly paidAt: string;
  /** As it is printed, for example `"Visa ending 4242"`. */
  readonly method: string;
}

/** An invoice as it is stored: open without a payment, paid with one. */
export interface Invoice extends IssuedInvoice {
  /** 1 when issued; grows with every change. */
  readonly version: number;
  readonly payment?: Payment;
}

/** An invoice that a receipt can be made of. */
export type PaidInvoice = Invoice & { readonly payment: Payment };

/** Whether there is a payment to acknowledge. */
export function isPaid(invoice: Invoice): invoice is PaidInvoice {
  return invoice.payment !== undefined;
}
