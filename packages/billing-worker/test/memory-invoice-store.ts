/** Invoices in memory, for tests; it passes the same suite as the one in DynamoDB. */

import type { Invoice, IssuedInvoice, Payment } from "../invoice/invoice.ts";
import {
  type InvoiceKey,
  type InvoiceStore,
  type IssueOutcome,
  judgePayment,
  type PaymentOutcome,
} from "../invoice/invoice-store.ts";

export class MemoryInvoiceStore implements InvoiceStore {
  readonly #issued = new Map<string, IssuedInvoice>();
  readonly #payments = new Map<string, Payment>();

  async issue(invoice: IssuedInvoice): Promise<IssueOutcome> {
    const stored = this.#issued.get(keyText(invoice));
    if (stored !== undefined) {
      const isSame = JSON.stringify(stored) === JSON.stringify(invoice);
      return isSame ? { kind: "unchanged" } : { kind: "conflict" };
    }
    this.#issued.set(keyText(invoice), structuredClone(invoice));
    return { kind: "issued" };
  }

  async find(key: InvoiceKey): Promise<Invoice | undefined> {
    return this.#read(key);
  }

  async pay(key: InvoiceKey, payment: Payment): Promise<PaymentOutcome> {
    const invoice = this.#read(key);
    const verdict = judgePayment(invoice, payment);
    if (verdict !== undefined || invoice === undefined) return verdict ?? { kind: "not-found" };
    this.#payments.set(keyText(key), payment);
    return { kind: "paid", invoice: { ...invoice, version: 2, payment } };
  }

  #read(key: InvoiceKey): Invoice | undefined {
    const issued = this.#issued.get(keyText(key));
    if (issued === undefined) return undefined;
    const payment = this.#payments.get(keyText(key));
    return payment === undefined ? { ...issued, version: 1 } : { ...issued, version: 2, payment };
  }
}

function keyText({ tenantId, invoiceId }: InvoiceKey): string {
  return JSON.stringify([tenantId, invoiceId]);
}
