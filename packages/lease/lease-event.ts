/** What a lease reports; the worker adds the job that the message turned out to be. */

/** Which receipt an event speaks of. The same object in all events of one lease. */
export interface LeaseRef {
  readonly queue: string;
  readonly messageId: string;
  readonly receiveCount: number;
}

/** Why a lease ended without us. */
export type LostCause =
  /** Our own clock passed `validUntil` without a successful extension. */
  | "expired"
  /** SQS refused the handle. */
  | "refused"
  /** The answer to an extension came after `validUntil`, whatever it said. */
  | "late-answer";

/** How a release came about, which decides its delay. */
export type ReleaseClass =
  | "unstarted"
  | "ended"
  | "failed"
  | "ignored-abort"
  | "poll-aborted"
  | "malformed"
  | "unknown-type"
  | "hold-limit"
  /** The job ledger does not answer, so its effects could not be begun or recorded. */
  | "store-down";

/** What was being done with a lease that is now left to run out by itself. */
export type LapsedEnding =
  | "release"
  | "retry"
  /** The copy cannot be delivered, so the message must not be deleted. */
  | "dead-letter"
  /** The source was closed while the lease was held. */
  | "close"
  /** Another may have the message, so nothing is said of it any more. */
  | "let-go"
  /** The message came again while its former run had not ended, and could not wait any longer. */
  | "held-back";

/** Everything that leases report. Durations and counts only, never a payload or a receipt handle. */
export type LeaseEvent =
  | {
      readonly kind: "lease.claimed";
      readonly lease: LeaseRef;
      readonly remainingMs: number;
      readonly ageMs: number;
    }
  | {
      readonly kind: "lease.extended";
      readonly lease: LeaseRef;
      /** What was left when the successful call was sent: the margin that a fault would have had. */
      readonly marginMs: number;
      readonly remainingMs: number;
    }
  | {
      readonly kind: "lease.extension-failed";
      readonly lease: LeaseRef;
      readonly code: string;
      readonly remainingMs: number;
    }
  | { readonly kind: "lease.acked"; readonly lease: LeaseRef; readonly heldMs: number }
  | { readonly kind: "lease.retried"; readonly lease: LeaseRef; readonly delayMs: number }
  | {
      readonly kind: "lease.released";
      readonly lease: LeaseRef;
      readonly delayMs: number;
      readonly class: ReleaseClass;
    }
  | { readonly kind: "lease.dead-lettered"; readonly lease: LeaseRef; readonly reason: string }
  | {
      readonly kind: "lease.lost";
      readonly lease: LeaseRef;
      readonly cause: LostCause;
      readonly during: string;
    }
  | {
      readonly kind: "lease.lapsing";
      readonly lease: LeaseRef;
      readonly during: LapsedEnding;
      readonly code: string;
      /** The latest moment at which the message is visible again, from now. */
      readonly visibleInMs: number;
    }
  /** Lost, and deleted all the same, because its job is done for good; `code` when SQS did not do it. */
  | { readonly kind: "lease.discarded"; readonly lease: LeaseRef; readonly code?: string }
  | {
      readonly kind: "lease.settle-failed";
      readonly lease: LeaseRef;
      readonly during: "ack" | "dead-letter";
      readonly code: string;
    }
  /** One batched call of extensions: how many leases it carried. */
  | { readonly kind: "lease.extension-call"; readonly queue: string; readonly entries: number }
  /**
   * A handler has blocked the event loop, and it turns again. The extender's thread went on
   * meanwhile, unless `extensionsPaused`: then the leases may be lost.
   */
  | {
      readonly kind: "lease.loop-blocked";
      readonly queue: string;
      readonly blockedMs: number;
      readonly extensionsPaused: boolean;
    }
  /** The extender's thread does not work; this thread extends the leases from now on. */
  | {
      readonly kind: "lease.extender-failed";
      readonly queue: string;
      readonly code: string;
      readonly message: string;
    };
