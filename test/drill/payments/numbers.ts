/** The numbers of the kill matrix: as short as real processes on a busy machine allow. */

import { type DeploymentContract, defineContract } from "@leasehold/deployment-contract";

/** How long the provider may take; what may still show there afterwards. */
export const CHARGE: {
  readonly limits: { readonly chargeMs: number; readonly findMs: number };
  readonly settleMs: number;
} = { limits: { chargeMs: 1_500, findMs: 1_000 }, settleMs: 3_000 };

/** Of the job. */
export const CHARGE_JOB = "trial.charge";
/** Whose it is. */
export const TENANT = "acme";

/** The worker's contract: leases of 7 s, clocks that differ by half a second, nothing settles after 3 s. */
export const paymentContract: DeploymentContract = defineContract({
  preset: "drill",
  service: "payments-trial",
  queues: [{ name: "trial-charges", deadLetter: { name: "trial-charges-dead" }, waitMs: 1_000 }],
  lease: { visibilityTimeoutMs: 7_000, extendEveryMs: 1_500, callTimeoutMs: 1_000 },
  worker: { concurrency: 2, jobTimeoutMs: 60_000, backoffBaseMs: 500, backoffCapMs: 1_000 },
  ledger: {
    kind: "dynamodb",
    settleMs: CHARGE.settleMs,
    ledgerSkewMs: 500,
    effects: [{ name: "charge", timeoutMs: CHARGE.limits.chargeMs + CHARGE.limits.findMs }],
  },
});
