/** What a run of a job reports. */

import type { AbortCause, ControlOutcome, JobIdentity, LogFields } from "@leasehold/job";
import type { LeaseRef } from "@leasehold/lease";

/** Why a ledger ended a run or kept it from starting; `unsettled`: effects of it are open. */
export type StopWord = ControlOutcome["kind"] | "unsettled";

/** How a run was settled, decided from its outcome. */
export type JobOutcome =
  /** Acked: the handler resolved, or said `done`. */
  | "succeeded"
  /** Failed and tried again after a delay. */
  | "failed"
  /** The handler threw `RetryLaterError`. */
  | "retry-later"
  /** Dead-lettered: permanent error, or the attempts are used up. */
  | "dead-lettered"
  /** Stopped by the drain; released, no failure. */
  | "interrupted"
  /** The lease was lost under the run: nothing was settled. */
  | "lease-lost"
  /** Ended by the job ledger, see `job.stopped`: neither a success nor a failure of the handler. */
  | "stopped";

/** Everything that a run reports; `job` is absent for a message that is no job. */
export type JobEvent =
  | {
      readonly kind: "job.started";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly attempt: number;
      /** From the producer's send to the start. */
      readonly ageMs: number;
    }
  | {
      readonly kind: "job.ended";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly attempt: number;
      readonly outcome: JobOutcome;
      readonly durationMs: number;
      /** Message and name of what the handler threw; never a payload. */
      readonly error?: { readonly name: string; readonly message: string; readonly stack?: string };
      /** For `failed` and `retry-later`: when it is wanted again. */
      readonly delayMs?: number;
    }
  /**
   * The job ledger ended the run or kept it from starting. `busy`: another worker has it, or an effect
   * has not settled. `fenced`, `lease-lost`: another may have it, so nothing is said to SQS any more.
   * `parked`: an operator must decide. `draining`, `store-down`: no effect was begun. `done`,
   * `cancelled`, `dead`: it had ended before. `unsettled`: the handler returned and effects are open.
   */
  | {
      readonly kind: "job.stopped";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly why: StopWord;
      readonly during: "open" | "run";
      /** When it is wanted again; absent when it is not. */
      readonly delayMs?: number;
    }
  | {
      readonly kind: "job.aborted";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly cause: AbortCause;
    }
  /** The handler ended this long after its signal aborted. */
  | {
      readonly kind: "job.abort-answered";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly latencyMs: number;
    }
  /** The handler has not ended although its signal aborted and the process is about to go. */
  | {
      readonly kind: "job.ignored-abort";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly sinceMs: number;
    }
  /** The handler returned quietly after its signal aborted: released, not acked. */
  | { readonly kind: "job.quiet-return"; readonly lease: LeaseRef; readonly job: JobIdentity }
  /** The message is no job; `disposal` says where it went. */
  | {
      readonly kind: "job.malformed";
      readonly lease: LeaseRef;
      /** A stable word, for example `"not-json"`. */
      readonly reason: string;
      readonly detail: string;
      readonly disposal: "dead-lettered" | "released";
      /** As much as the message says about itself. */
      readonly identity?: Partial<JobIdentity>;
    }
  /** Well-formed, but of a type or version that this worker does not know (a rolling deploy). */
  | {
      readonly kind: "job.unknown-type";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly detail: string;
      readonly disposal: "dead-lettered" | "released";
      readonly delayMs: number;
    }
  /** The ledger of attempts is down: the job runs, or is settled, and this time is not counted. */
  | {
      readonly kind: "job.uncounted";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly during: "open" | "end";
      readonly error: { readonly name: string; readonly message: string; readonly stack?: string };
    }
  /** Its earlier attempts say that it is not to be run again: it is dead-lettered unstarted. */
  | {
      readonly kind: "job.given-up";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      /** A stable word, for example `"killed-its-worker"`. */
      readonly reason: string;
      readonly detail: string;
    }
  /** Its schema has not answered within the job's time limit: a failure, and the job never started. */
  | {
      readonly kind: "job.schema-timeout";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly attempt: number;
      readonly outcome: JobOutcome;
      /** How long it was waited for. */
      readonly durationMs: number;
      readonly error?: { readonly name: string; readonly message: string; readonly stack?: string };
      /** For `failed`: when it is wanted again. */
      readonly delayMs?: number;
    }
  /** A line from `context.log`. */
  | {
      readonly kind: "job.log";
      readonly lease: LeaseRef;
      readonly job: JobIdentity;
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields: LogFields;
    };
