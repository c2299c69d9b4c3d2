/** The billing worker as a target of the drill: real jobs, charged at the local payment provider. */

import { join } from "node:path";
import { readCharges } from "@leasehold/billing-worker/payment-sandbox";
import { target as billing } from "@leasehold/billing-worker/target";
import { type DrillTarget, nodeCommand } from "@leasehold/drill";
import { drillPreset } from "./drill-site.ts";

const CAPTURE = "payment.capture";

interface CapturePayload {
  readonly invoiceId: string;
}

/** Makes the target; it remembers which invoices it was asked to have charged, by folder. */
export function billingDrillTarget(): DrillTarget {
  const charged = new Map<string, Map<string, number>>();
  const chargesIn = (folder: string) => {
    const known = charged.get(folder) ?? new Map<string, number>();
    charged.set(folder, known);
    return known;
  };
  return {
    name: billing.name,
    command: nodeCommand(...billing.command),
    can: ["work"],
    contract: () => billing.contract(drillPreset),
    tables: billing.tables,
    startCompanion: ({ folder }) => billing.startCompanion({ folder }),
    environment: ({ folder, work }) =>
      billing.environment({
        preset: drillPreset,
        ...{ folder, receiptsFolder: folder, adminPort: 0, logLevel: "debug" },
        renderMs: work.forMs,
      }),
    shortGrace: () => ({
      BILLING_CONTRACT_OVERRIDES: JSON.stringify({ platform: { graceMs: 10_000 } }),
    }),
    // Each request its own seed: ids are by seed, and an invoice is paid within its own request.
    jobs: ({ folder }, from, count) => {
      const jobs = billing.sampleJobs({ count, seed: from });
      for (const { type, payload } of jobs) {
        if (type === CAPTURE) chargesIn(folder).set((payload as CapturePayload).invoiceId, 0);
      }
      return jobs;
    },
    countEffects: async ({ folder }) => {
      const counts = new Map<string, number>();
      for (const charge of readCharges(join(folder, "payments.jsonl"))) {
        counts.set(charge.invoiceId, (counts.get(charge.invoiceId) ?? 0) + 1);
      }
      return new Map([...chargesIn(folder), ...counts]);
    },
    tellEffects: async ({ folder }) =>
      readCharges(join(folder, "payments.jsonl")).map(({ invoiceId, tenantId, atMs }) => ({
        ...{ effect: "charge", jobId: invoiceId, tenantId, atMs },
      })),
  };
}
