/** An invoice that tests vary. */

import type { InvoiceDraft, IssuedInvoice, PaidInvoice, Payment } from "../invoice/invoice.ts";
import { computeTotals } from "../invoice/invoice-math.ts";

export const draft: InvoiceDraft = {
  invoiceId: "INV-7",
  issuedOn: "2026-01-15",
  dueOn: "2026-02-14",
  currency: "EUR",
  locale: "de-DE",
  seller: {
    name: "Nordlicht Netze GmbH",
    addressLines: ["Hafenstraße 12", "20359 Hamburg"],
    taxId: "DE 318 204 771",
  },
  buyer: { name: "Łódź Textile Works S.A.", addressLines: ["ul. Piotrkowska 104"] },
  lines: [
    {
      description: "Consulting",
      quantity: "2.5",
      unit: "h",
      unitPriceMinor: 14_000,
      taxRateBasisPoints: 1900,
    },
    { description: "Manual", quantity: "1", unitPriceMinor: 1_800, taxRateBasisPoints: 700 },
  ],
};

export function issued(changes: Partial<InvoiceDraft> = {}, tenantId = "nordlicht"): IssuedInvoice {
  const changed = { ...draft, ...changes };
  return { tenantId, ...changed, ...computeTotals(changed.lines) };
}

export const payment: Payment = {
  eventId: "evt_1",
  amountMinor: 43_576,
  currency: "EUR",
  paidAt: "2026-01-20T10:00:00Z",
  method: "Visa ending 4242",
};

export function paid(changes: Partial<InvoiceDraft> = {}): PaidInvoice {
  return { ...issued(changes), version: 2, payment };
}
