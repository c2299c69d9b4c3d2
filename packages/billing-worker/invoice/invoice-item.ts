/** An invoice as a DynamoDB item, written and read. Pure. */

import { createHash } from "node:crypto";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Invoice, IssuedInvoice, Payment } from "./invoice.ts";
import type { InvoiceKey } from "./invoice-store.ts";

/** The sort key of every invoice; other kinds of items may share its partition later. */
const INVOICE_SORT_KEY = "INVOICE";

/** An item of the table, or a map in one. */
export type InvoiceItem = Record<string, AttributeValue>;

/** The key of an invoice; `#` separates, so the parts' own `#` and `%` are escaped. */
export function invoiceItemKey({ tenantId, invoiceId }: InvoiceKey): InvoiceItem {
  const partition = `INV#${escapePart(tenantId)}#${escapePart(invoiceId)}`;
  return { pk: { S: partition }, sk: { S: INVOICE_SORT_KEY } };
}

/**
 * A newly issued invoice. What conditions and operators look at are attributes of their own; the
 * rest is one JSON document, since nothing ever changes or queries it.
 */
export function issuedInvoiceItem(invoice: IssuedInvoice): InvoiceItem {
  const { tenantId, invoiceId, currency, totalMinor } = invoice;
  const document = JSON.stringify(invoice);
  return {
    ...invoiceItemKey(invoice),
    tenantId: { S: tenantId },
    invoiceId: { S: invoiceId },
    state: { S: "open" },
    version: { N: "1" },
    currency: { S: currency },
    totalMinor: { N: String(totalMinor) },
    document: { S: document },
    contentHash: { S: contentHash(document) },
  };
}

/** What tells two invoices with the same id apart. */
function contentHash(document: string): string {
  return createHash("sha256").update(document).digest("hex");
}

/** The payment as one attribute of the invoice. */
export function paymentAttribute(payment: Payment): AttributeValue {
  const { eventId, paymentId, amountMinor, currency, paidAt, method } = payment;
  return {
    M: {
      eventId: { S: eventId },
      ...(paymentId === undefined ? {} : { paymentId: { S: paymentId } }),
      amountMinor: { N: String(amountMinor) },
      currency: { S: currency },
      paidAt: { S: paidAt },
      method: { S: method },
    },
  };
}

/** The invoice in an item that this file wrote. */
export function readInvoiceItem(item: InvoiceItem): Invoice {
  const issued = JSON.parse(item["document"]?.S ?? "null") as IssuedInvoice;
  const version = Number(item["version"]?.N);
  const payment = item["payment"]?.M;
  return payment === undefined
    ? { ...issued, version }
    : { ...issued, version, payment: readPayment(payment) };
}

function readPayment(item: InvoiceItem): Payment {
  const paymentId = item["paymentId"]?.S;
  return {
    eventId: item["eventId"]?.S ?? "",
    ...(paymentId === undefined ? {} : { paymentId }),
    amountMinor: Number(item["amountMinor"]?.N),
    currency: (item["currency"]?.S ?? "") as Payment["currency"],
    paidAt: item["paidAt"]?.S ?? "",
    method: item["method"]?.S ?? "",
  };
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("#", "%23");
}
