/** Where the jobs of a service are recorded, as its author chooses it. */

import type { Clock } from "@leasehold/clock";
import { type DeploymentContract, workerTimings } from "@leasehold/deployment-contract";
import {
  createLedger,
  DynamodbLedgerStore,
  type DynamodbStoreArguments,
  type LedgerOptions,
  type LedgerStore,
  MemoryLedgerStore,
  type ResultStore,
} from "@leasehold/idempotency";
import { parseJobId, parseJobType, parseTenantId, type WorkerLedger } from "@leasehold/job";
import { InvalidOptionsError } from "@leasehold/options";
import { LedgerTableError } from "./errors.ts";

/** A ledger in the DynamoDB table of the contract. */
export interface DynamodbLedgerChoice {
  readonly kind: "dynamodb";
  /** Whoever made it destroys it, after the service was closed. */
  readonly client: DynamodbStoreArguments["client"];
  /** Part of every provider key, for example `"production"`: a trial must not look like the real thing. */
  readonly environment: string;
  /** @defaultValue the contract's `ledger.tableName` */
  readonly tableName?: string;
  /**
   * Where results and parked messages go that are too big for a record: `folderPayloadStore` or
   * `s3PayloadStore`. They are needed for as long as records are kept, which may be longer than the
   * payloads of a claim check. @defaultValue nowhere: such results are dropped, and reported
   */
  readonly results?: ResultStore;
  /** What goes beyond the contract, or instead of it. */
  readonly options?: LedgerOptions;
}

/**
 * `dynamodb`: effects once, over all workers and all time. `memory`: as long as this process lives, for
 * tests and a laptop. `"none"`: `context.once` and `context.checkpoint` fail.
 */
export type LedgerChoice = DynamodbLedgerChoice | { readonly kind: "memory" } | "none";

/** The parts of a service that its ledger depends on. */
export interface LedgerChoiceParts {
  readonly contract: DeploymentContract;
  readonly ledger?: LedgerChoice;
  readonly attempts?: unknown;
  readonly clock: Clock;
  readonly workerId: string;
}

/** The ledger of a service. */
export interface ServiceLedger {
  readonly ledger: WorkerLedger;
  /** @throws LedgerTableError when its table cannot be read */
  readonly check: () => Promise<void>;
}

const LONGEST_BUSY_MS = 900_000;
const SHORTEST_BUSY_MS = 1_000;
/** A job that nobody sends: only whether its record can be asked for matters. */
const PROBE = {
  tenantId: parseTenantId("leasehold"),
  jobId: parseJobId("table-check"),
  jobType: parseJobType("leasehold.probe"),
};

/**
 * The ledger, or nothing for `"none"`.
 *
 * @throws InvalidOptionsError when it does not fit the contract, an option is none, or something else
 * counts attempts too
 */
export function openLedger(parts: LedgerChoiceParts): ServiceLedger | undefined {
  const problems = problemsOf(parts);
  if (problems.length > 0) throw new InvalidOptionsError("service", problems);
  const { contract, ledger: choice = "none", clock, workerId } = parts;
  if (choice === "none") return undefined;
  const options = optionsOf(contract);
  if (choice.kind === "memory") {
    const store = new MemoryLedgerStore();
    const ledger = createLedger({ store, clock, environment: "memory", workerId, options });
    return { ledger, check: async () => {} };
  }
  const { client, environment, results } = choice;
  const tuned = { ...options, ...choice.options };
  const tableName = choice.tableName ?? tableOf(contract);
  const store = new DynamodbLedgerStore({ client, tableName, clock });
  const ledger = createLedger({
    ...{ store, clock, environment, workerId, options: tuned },
    ...(results === undefined ? {} : { results }),
  });
  return { ledger, check: () => checkTable(store, tableName) };
}

function problemsOf({ contract, ledger = "none", attempts }: LedgerChoiceParts): readonly string[] {
  const kind = typeof ledger === "object" && ledger !== null ? ledger.kind : ledger;
  if (kind !== "none" && kind !== "memory" && kind !== "dynamodb") {
    return ['ledger must be "none" or an object of kind "memory" or "dynamodb"'];
  }
  const inContract = contract.ledger.kind;
  return [
    ...(kind === "dynamodb" && inContract === "none"
      ? ["ledger is in DynamoDB, and the contract has none: set its ledger.kind to dynamodb"]
      : []),
    ...(kind === "none" && inContract === "dynamodb"
      ? ["the contract has a ledger in DynamoDB: give the service ledger: { kind: dynamodb, ... }"]
      : []),
    ...(kind !== "none" && attempts !== undefined
      ? ["attempts are counted by the ledger: leave attempts out"]
      : []),
    ...(typeof ledger === "object" && ledger.kind === "dynamodb" ? wordProblems(ledger) : []),
  ];
}

function wordProblems({ environment }: DynamodbLedgerChoice): readonly string[] {
  if (typeof environment === "string" && environment.trim() !== "") return [];
  return [`ledger.environment must be a name, for example "production", got ${environment}`];
}

/** What the contract says of records and clocks; a busy job waits no longer than a job may run. */
function optionsOf(contract: DeploymentContract): LedgerOptions {
  const { jobTimeoutMs } = workerTimings(contract).job;
  const longestBusyMs = Math.max(SHORTEST_BUSY_MS, Math.min(jobTimeoutMs, LONGEST_BUSY_MS));
  if (contract.ledger.kind === "none") return { longestBusyMs };
  const { doneRetentionMs: retentionMs, ledgerSkewMs, settleMs } = contract.ledger;
  return { longestBusyMs, retentionMs, ledgerSkewMs, settleMs };
}

function tableOf({ ledger }: DeploymentContract): string {
  return ledger.kind === "dynamodb" ? ledger.tableName : "";
}

async function checkTable(store: LedgerStore, tableName: string): Promise<void> {
  try {
    await store.read(PROBE);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const reason = cause instanceof Error ? cause.name : String(cause);
    throw new LedgerTableError(tableName, reason, { cause });
  }
}
