/** The numbers of this service, and its tables; no SDK and no environment behind it. */

import {
  type ContractInput,
  type DeploymentContract,
  defineContract,
  type PresetName,
  type TableSettings,
} from "@leasehold/deployment-contract";
import { CHARGE_TIMEOUT_MS } from "./payment/charge-invoice.ts";

/** The queue that all jobs of this service go through. */
export const BILLING_QUEUE = "billing-jobs";

/**
 * One slot renders or waits for DynamoDB; rendering is bounded by its threads, so a few more slots
 * than threads keep both busy without holding messages that cannot move.
 */
const CONCURRENCY = 8;

/** Rendering an invoice of 500 lines takes seconds; whatever takes minutes hangs. */
const JOB_TIMEOUT_MS = 120_000;

/**
 * The contract of this service on one platform.
 *
 * @param overrides - laid over what the service says, objects field by field, lists and numbers
 * whole; for drills and for numbers that differ by environment
 * @throws InvalidContractError naming every malformed or unknown field
 */
export function billingContract(
  preset: PresetName = "default-30",
  overrides: Readonly<Record<string, unknown>> = {},
): DeploymentContract {
  const input: ContractInput = {
    preset,
    service: "billing-worker",
    queues: [{ name: BILLING_QUEUE, deadLetter: { name: `${BILLING_QUEUE}-dead` } }],
    worker: { concurrency: CONCURRENCY, jobTimeoutMs: JOB_TIMEOUT_MS },
    // Every other write of these jobs is conditional, so a repeated one changes nothing by itself.
    ledger: { kind: "dynamodb", effects: [{ name: "charge", timeoutMs: CHARGE_TIMEOUT_MS }] },
  };
  return defineContract(overlay(input, overrides) as ContractInput);
}

/** Where invoices live. On demand, and kept: without it nobody knows what was paid. */
export const invoicesTable: TableSettings = Object.freeze({
  tableName: "billing-invoices",
  partitionKey: Object.freeze({ name: "pk", type: "S" }),
  sortKey: Object.freeze({ name: "sk", type: "S" }),
  billingMode: "PAY_PER_REQUEST",
  timeToLiveAttribute: "expiresAt",
  indexes: Object.freeze([]),
  pointInTimeRecovery: true,
  deletionProtection: true,
});

function overlay(base: object, overrides: Readonly<Record<string, unknown>>): object {
  const before = new Map<string, unknown>(Object.entries(base));
  const changed = Object.entries(overrides).map(([name, value]) => {
    const beneath = before.get(name);
    return [name, isRecord(beneath) && isRecord(value) ? overlay(beneath, value) : value] as const;
  });
  // From entries, so that a field named `__proto__` stays a field, and is refused as one.
  return Object.fromEntries([...before, ...changed]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
