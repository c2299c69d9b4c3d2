/** What became of each unfinished job, and the exit code that says so. Pure. */

import type { JobIdentity } from "@leasehold/job";

/** What was done with the lease of a job that did not finish before the end. */
export type Disposal =
  /** Given back; visible after its delay. */
  | "released"
  /** Left to run out by itself: the answer is unknown, or no call was possible. */
  | "lapsing"
  /** Lost before or during the drain: another worker may have it. */
  | "lost";

/** One message that this worker held when the drain began and that did not end as a job should. */
export interface UnfinishedJob {
  /** Absent when the message never became a job (unstarted and unread, or malformed). */
  readonly job?: JobIdentity;
  readonly queue: string;
  readonly messageId: string;
  readonly disposal: Disposal;
  readonly started: boolean;
  readonly ignoredAbort: boolean;
  /** The latest moment at which another worker can have it, Unix time; absent when lost. */
  readonly visibleByMs?: number;
}

/** Why the worker ended. */
export type ShutdownCause =
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "request"; readonly by: string }
  | { readonly kind: "fatal"; readonly error: { readonly name: string; readonly message: string } };

/** The one account of a shutdown: for the log, for a file, and for people. */
export interface ShutdownReport {
  readonly cause: ShutdownCause;
  readonly exitCode: number;
  /** One sentence that says what the exit code says. */
  readonly summary: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Time spent in each phase; a phase that was not entered has 0. */
  readonly phasesMs: {
    readonly draining: number;
    readonly aborting: number;
    readonly releasing: number;
    readonly flushing: number;
  };
  readonly unfinished: readonly UnfinishedJob[];
  /** Counted from the moment the drain began. */
  readonly totals: {
    readonly inFlightAtStart: number;
    readonly acked: number;
    readonly retried: number;
    readonly deadLettered: number;
    readonly released: number;
    readonly lapsing: number;
    readonly lost: number;
    readonly pollsLeft: number;
  };
}
