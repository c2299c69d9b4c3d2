/** The life of a worker: see `worker.ts`; what it reports: `worker-event.ts`. */

export type {
  Disposal,
  ShutdownCause,
  ShutdownReport,
  UnfinishedJob,
} from "./shutdown-report.ts";
export type { Worker, WorkerListener } from "./worker.ts";
export type {
  InFlightJob,
  WorkerEvent,
  WorkerLeaseEvent,
  WorkerLifeEvent,
  WorkerPhase,
} from "./worker-event.ts";
export type { Health, HeldSnapshot, QueueSnapshot, WorkerSnapshot } from "./worker-snapshot.ts";
