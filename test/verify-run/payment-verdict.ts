/** What must hold of the charges of a finished run: one for each captured invoice, and no other. Pure. */

import type { InvoiceEvidence } from "./evidence.ts";
import type { ChargeEvidence, LedgerEvidence } from "./payment-evidence.ts";

/** Every invoice, and what was charged. */
export interface PaymentFacts {
  readonly invoices: readonly InvoiceEvidence[];
  readonly charges: readonly ChargeEvidence[];
  readonly ledger: readonly LedgerEvidence[];
}

type InvoiceKey = Pick<InvoiceEvidence, "tenantId" | "invoiceId">;

/** An invoice that says a payment of this service's own was booked has that one charge, others none. */
export function findWrongCharges({ invoices, charges }: PaymentFacts): readonly string[] {
  const known = new Set(invoices.map(keyOf));
  const strays = charges
    .filter((charge) => !known.has(keyOf(charge)))
    .map((charge) => `${keyOf(charge)}: charged, and no invoice of the table`);
  const wrong = invoices.flatMap((invoice) => {
    const own = charges.filter((charge) => keyOf(charge) === keyOf(invoice));
    return compareCharges(invoice, own);
  });
  return [...wrong, ...strays];
}

function compareCharges(
  invoice: InvoiceEvidence,
  charges: readonly ChargeEvidence[],
): readonly string[] {
  const { paymentId, totalMinor } = invoice;
  const wanted = paymentId === undefined ? 0 : 1;
  if (charges.length !== wanted) {
    return [`${keyOf(invoice)}: charged ${charges.length} times instead of ${wanted}`];
  }
  return charges
    .filter((charge) => charge.paymentId !== paymentId || charge.amountMinor !== totalMinor)
    .map((charge) => {
      const said = `${charge.amountMinor} by ${charge.paymentId}`;
      return `${keyOf(invoice)}: charged ${said}; the invoice says ${totalMinor} by ${paymentId}`;
    });
}

/** Every job in the ledger is done, each charge has its record there, and nothing is in doubt. */
export function findOpenRecords({ charges, ledger }: PaymentFacts): readonly string[] {
  const unfinished = ledger.flatMap(({ tenantId, jobType, jobId, state, effects }) => {
    const job = `${tenantId}/${jobType} ${jobId}`;
    return [
      ...(state === "DONE" ? [] : [`${job}: ${state}`]),
      ...Object.entries(effects)
        .filter(([, outcome]) => outcome !== "DONE ok")
        .map(([name, outcome]) => `${job}: its effect ${name} is ${outcome}`),
    ];
  });
  const captures = ledger.filter(({ effects }) => effects["charge"] !== undefined).length;
  if (captures === charges.length) return unfinished;
  return [...unfinished, `${charges.length} charges, ${captures} records of a charge`];
}

function keyOf({ tenantId, invoiceId }: InvoiceKey): string {
  return `${tenantId}/${invoiceId}`;
}
