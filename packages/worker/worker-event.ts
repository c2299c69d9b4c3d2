/** Everything a worker reports, as one union. */

import type { JobIdentity, LedgerEvent } from "@leasehold/job";
import type { ErrorInfo, JobEvent } from "@leasehold/job-run";
import type { LeaseEvent, LeaseRef } from "@leasehold/lease";
import type { ShutdownCause, ShutdownReport } from "./shutdown-report.ts";

/** The phases of a worker's life, in order; `paused` and `ready` alternate. */
export type WorkerPhase =
  | "booting"
  | "ready"
  | "paused"
  | "draining"
  | "aborting"
  | "releasing"
  | "flushing"
  | "exited";

/** A lease event, with the job that the message turned out to be as soon as that is known. */
export type WorkerLeaseEvent = LeaseEvent & { readonly job?: JobIdentity };

type StoreFailing = Extract<LedgerEvent, { readonly kind: "ledger.store-failing" }>;

/** What the job ledger reports; `alarm` says that a person must look at it. */
export type WorkerLedgerEvent =
  | Exclude<LedgerEvent, StoreFailing>
  | (Omit<StoreFailing, "error"> & { readonly error: ErrorInfo });

/** One job in flight at the first tick of a drain. */
export interface InFlightJob {
  readonly lease: LeaseRef;
  readonly job?: JobIdentity;
  readonly started: boolean;
  /** Since the claim. */
  readonly heldMs: number;
  readonly leaseRemainingMs: number;
}

/** What the worker itself reports. */
export type WorkerLifeEvent =
  | { readonly kind: "worker.phase"; readonly phase: WorkerPhase; readonly from: WorkerPhase }
  | {
      readonly kind: "worker.ready";
      readonly queues: readonly string[];
      readonly concurrency: number;
    }
  /** The contract's numbers are no danger, but cost time, money or clarity; told at the start. */
  | {
      readonly kind: "worker.contract-warning";
      readonly rule: string;
      readonly message: string;
      readonly mend: string;
    }
  | {
      readonly kind: "worker.fatal";
      readonly error: { readonly name: string; readonly message: string; readonly stack?: string };
    }
  | {
      readonly kind: "claim.poll";
      readonly queue: string;
      readonly asked: number;
      readonly received: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: "claim.failed";
      readonly queue: string;
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryInMs: number;
    }
  /** No poll has completed or been due for too long: liveness turns bad. */
  | { readonly kind: "claim.stalled"; readonly queue: string; readonly stalledMs: number }
  /**
   * A message is held, unstarted: its tenant or its type has as many jobs running as it may, a job
   * that may be what kills workers runs alone or waits to, or more came than there are slots.
   */
  | {
      readonly kind: "claim.held";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly cap: "tenant" | "type" | "alone" | "slots";
    }
  /** Memory is short: nothing is claimed until `claim.memory-eased`. */
  | {
      readonly kind: "claim.memory-short";
      readonly usedBytes: number;
      readonly limitBytes: number;
      /** The share of the limit above which nothing is claimed. */
      readonly share: number;
    }
  | {
      readonly kind: "claim.memory-eased";
      /** Absent when the limit or the use is no longer known. */
      readonly usedBytes?: number;
      readonly limitBytes?: number;
      readonly shortForMs: number;
    }
  /** The job ledger's store does not answer: nothing is claimed until `claim.ledger-back`. */
  | { readonly kind: "claim.ledger-down"; readonly retryInMs: number }
  | { readonly kind: "claim.ledger-back"; readonly downForMs: number }
  | {
      readonly kind: "drain.started";
      readonly cause: ShutdownCause;
      readonly inFlight: number;
      readonly openPolls: number;
      /** Absolute, Unix time. */
      readonly drainByMs: number;
      readonly killAtMs: number;
    }
  /** One for each job in flight at the first tick of the drain. */
  | ({ readonly kind: "drain.in-flight" } & InFlightJob)
  | { readonly kind: "drain.late-arrival"; readonly lease: LeaseRef }
  | { readonly kind: "drain.tapered"; readonly leases: number; readonly refused: number }
  | { readonly kind: "drain.escalated"; readonly to: WorkerPhase; readonly why: string }
  | { readonly kind: "drain.signal-ignored"; readonly signal: string; readonly sinceLastMs: number }
  | { readonly kind: "drain.finished"; readonly report: ShutdownReport };

/** Everything a worker reports. Listeners never slow it down: one that throws is dropped from that event. */
export type WorkerEvent = WorkerLifeEvent | JobEvent | WorkerLeaseEvent | WorkerLedgerEvent;
