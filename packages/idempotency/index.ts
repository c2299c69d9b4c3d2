/** A side effect happens once: see `idempotency.ts`; for an operator: `parked-jobs.ts`. */

export type { LedgerEvent, LedgerListener, ParkReason } from "@leasehold/job";
export { type CancelArguments, type Cancelled, cancelJob } from "./cancel-job.ts";
export { DynamodbLedgerStore, type DynamodbStoreArguments } from "./dynamodb-store.ts";
export {
  EffectTimeoutError,
  LedgerUseError,
  ResolveRefusedError,
  ResultMissingError,
  StoreUnavailableError,
} from "./errors.ts";
export { createLedger, type Ledger, type LedgerArguments } from "./idempotency.ts";
export type { EffectRecord, JobRecord, JobState, Parked } from "./ledger-record.ts";
export type {
  LedgerStore,
  LedgerWrite,
  ParkedPage,
  ParkedQuery,
  WriteAnswer,
  WriteName,
} from "./ledger-store.ts";
export { MemoryLedgerStore } from "./memory-store.ts";
export type { LedgerOptions } from "./options.ts";
export {
  type OperatorWord,
  ParkedJobs,
  type ParkedJobsArguments,
  type Resolved,
  type Verdict,
} from "./parked-jobs.ts";
export type { ResultStore } from "./result-store.ts";
