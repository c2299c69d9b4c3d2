/** One run of one job, from its lease to its settlement: see `job-run.ts`. */

export {
  LedgerMissingError,
  LedgerTimeoutError,
  SchemaTimeoutError,
  SenderMissingError,
} from "./errors.ts";
export type { JobEvent, JobOutcome, StopWord } from "./job-event.ts";
export { JobRun } from "./job-run.ts";
export { type MemoryAttemptLedgerOptions, memoryAttemptLedger } from "./memory-attempt-ledger.ts";
export type { JobRegistry } from "./read-job.ts";
export { receiveBudgets, receiveCountLedger } from "./receive-count-ledger.ts";
export { type BackoffPolicy, retryDelayMs } from "./retry-delay.ts";
export type { GiveBack, RunEnd, RunParts, RunPhase, RunPolicy } from "./run-parts.ts";
export type { AttemptBudgets } from "./start-decision.ts";
export { describeThrown, type ErrorInfo } from "./thrown.ts";
