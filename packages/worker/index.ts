/** The life of a worker: see `worker.ts`; what it reports: `worker-event.ts`. */

export { type MemoryAttemptLedgerOptions, memoryAttemptLedger } from "@leasehold/job-run";
export type { Health } from "./health.ts";
export type { WorkerListener } from "./listeners.ts";
export type { MemoryUse } from "./memory-guard.ts";
export type { WorkerOptions } from "./options.ts";
export {
  type Disposal,
  type ErrorWords,
  forcedExitCode,
  type ShutdownCause,
  type ShutdownReport,
  type UnfinishedJob,
} from "./shutdown-report.ts";
export { createWorker, type Worker } from "./worker.ts";
export type {
  InFlightJob,
  WorkerEvent,
  WorkerLeaseEvent,
  WorkerLedgerEvent,
  WorkerLifeEvent,
  WorkerPhase,
} from "./worker-event.ts";
export type { WorkerParts } from "./worker-parts.ts";
export type { HeldSnapshot, QueueSnapshot, WorkerSnapshot } from "./worker-snapshot.ts";
