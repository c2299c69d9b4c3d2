/** What goes wrong with a lease. `code` is part of the public API and never changes. */

import type { LeaseRef, LostCause } from "./lease-event.ts";

/**
 * The message is no longer ours: another worker may be working on it now.
 * Stop side effects and do not ack. Not a failure of the job.
 */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  readonly code = "LEASE_LOST";
  readonly lease: LeaseRef;
  /** Why it ended, or `"ended"` when it was not lost but settled or released before. */
  readonly lostCause: LostCause | "ended";

  constructor(lease: LeaseRef, lostCause: LostCause | "ended", options?: ErrorOptions) {
    super(`lease on message ${lease.messageId} of ${lease.queue} was lost (${lostCause})`, options);
    this.lease = lease;
    this.lostCause = lostCause;
  }
}

/** What `ClaimFailedError` is told. */
export interface ClaimFailure {
  readonly queue: string;
  /** The stable word for the fault, SQS's own where it has one, for example `QueueDoesNotExist`. */
  readonly reason: string;
  readonly retryable: boolean;
  readonly detail: string;
  readonly cause?: unknown;
}

/** A ReceiveMessage brought no answer that can be used. */
export class ClaimFailedError extends Error {
  override readonly name = "ClaimFailedError";
  readonly code = "CLAIM_FAILED";
  readonly queue: string;
  readonly reason: string;
  /** Whether it may pass by itself: throttling, network, 5xx. */
  readonly retryable: boolean;

  constructor({ queue, reason, retryable, detail, cause }: ClaimFailure) {
    super(`claim from ${queue} failed (${reason}): ${detail}`, { cause });
    this.queue = queue;
    this.reason = reason;
    this.retryable = retryable;
  }

  /** Whether someone has to mend something first: the queue is gone, access is denied. */
  get fatal(): boolean {
    return !this.retryable;
  }
}

/** An event that makes no sense in a lease's state: a bug in the caller, never a fault of SQS. */
export class LeaseTransitionError extends Error {
  override readonly name = "LeaseTransitionError";
  readonly code = "LEASE_TRANSITION";

  constructor(state: string, event: string) {
    super(`a lease that is ${state} cannot take "${event}"`);
  }
}
