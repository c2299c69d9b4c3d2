/** What the ledger table derives. */

import type { DeploymentContract } from "./deployment-contract.ts";

/** One key attribute of a table or index. */
export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N";
}

/** The ledger's table as data, in no SDK's words, frozen. */
export interface TableSettings {
  readonly tableName: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  /** On demand: a drain or an outage must not meet a provisioned limit. */
  readonly billingMode: "PAY_PER_REQUEST";
  /** Where an item says when it may go. Embedded stores may have no TTL; nothing relies on it. */
  readonly timeToLiveAttribute: string;
  readonly indexes: readonly IndexSettings[];
  /** In the cloud only. A restore erases what was done since: it must be marked as one. */
  readonly pointInTimeRecovery: boolean;
  /** In the cloud only: without the table, every effect may happen again. */
  readonly deletionProtection: boolean;
}

/** A secondary index; every item attribute is in it. */
export interface IndexSettings {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
}

/** The ledger's table, or `undefined` without a ledger. */
export function tableSettings({ ledger }: DeploymentContract): TableSettings | undefined {
  if (ledger.kind === "none") return undefined;
  return Object.freeze({
    tableName: ledger.tableName,
    partitionKey: key("pk", "S"),
    sortKey: key("sk", "S"),
    billingMode: "PAY_PER_REQUEST",
    timeToLiveAttribute: "expiresAt",
    indexes: Object.freeze([PARKED_JOBS]),
    pointInTimeRecovery: true,
    deletionProtection: true,
  });
}

/** Sparse: only a parked job has `parkedAt`, so only parked jobs are in it, the oldest first. */
const PARKED_JOBS: IndexSettings = Object.freeze({
  name: "parked",
  partitionKey: key("tenantId", "S"),
  sortKey: key("parkedAt", "N"),
});

function key(name: string, type: KeyAttribute["type"]): KeyAttribute {
  return Object.freeze({ name, type });
}
