/** One message held for a time: extended, then acked, retried, released, dead-lettered or lost. */

import type { Moment } from "@leasehold/clock";
import type { Turn } from "./fifo-groups.ts";
import type { LeaseRef, ReleaseClass } from "./lease-event.ts";
import type { ReceivedMessage } from "./lease-queue.ts";
import type { LeaseStateKind } from "./lease-state.ts";

/** How an ending went. */
export type EndOutcome =
  /** SQS confirmed it. */
  | { readonly kind: "confirmed" }
  /** Another ending was decided first; this one did nothing. */
  | { readonly kind: "superseded" }
  /** The answer is unknown: no further call is made, the message is visible in `visibleInMs` at the latest. */
  | { readonly kind: "lapsing"; readonly visibleInMs: number }
  /** The lease was lost before it was confirmed. */
  | { readonly kind: "lost" };

/** Why a message goes to the dead-letter queue. */
export interface DeadLetterReason {
  /** A stable word, for example `"malformed"` or `"attempts-exhausted"`. */
  readonly code: string;
  /** One sentence for an operator; never a payload. */
  readonly detail: string;
  /** What led to it in numbers, by a stable word each. */
  readonly counts?: Readonly<Record<string, number>>;
}

/**
 * The temporary right to work on one received message. The first ending that is asked for wins,
 * atomically; every later one resolves as `superseded`.
 */
export interface Lease {
  readonly ref: LeaseRef;
  readonly message: ReceivedMessage;
  /** When the receive that brought it was sent. */
  readonly claimedAt: Moment;
  /** Aborts with a `LeaseLostError` when the lease is lost. */
  readonly lost: AbortSignal;
  readonly state: LeaseStateKind;
  /** Whether `deadLetter` has somewhere to send to; when not, it only lets the lease lapse. */
  readonly canDeadLetter: boolean;
  /**
   * FIFO: `undefined` when the message is the first of its group here, so that its run may start, as
   * it always may on a standard queue. Otherwise resolves with `come` when all that came before it
   * were deleted and SQS has confirmed that; with `gone` when it goes back unstarted, because one of
   * them did, or was lost. A run that starts before its turn is a bug and throws.
   */
  readonly turn: Promise<Turn> | undefined;
  /**
   * Says that a run begins. Whoever starts a run on a lease says so here and ends it by one of the
   * four endings, also when the lease was lost meanwhile: the message may have come again, and its
   * next run in this process waits for that word.
   * @throws LeaseLostError when it is no longer held
   */
  start(): void;
  /** How long the lease is safely held if nothing extends it any more; 0 when it is not held. */
  remainingMs(): number;
  /**
   * The latest moment, from now, at which SQS makes the message visible if no call is made any
   * more: an upper bound, where `remainingMs` is the lower one. 0 once it is deleted or was lost.
   */
  expiresInMs(): number;
  /**
   * What is left of the time that a message may be held, SQS's twelve hours at most, with enough
   * kept back to stop a run and release. At 0 the run is to be aborted.
   */
  holdRemainingMs(): number;
  /** @throws LeaseLostError */
  assertHeld(): void;
  /**
   * Makes the lease reach `forMs` from now, by one extension if need be, as far as SQS and a drain
   * allow. Never rejects.
   * @returns whether it does
   */
  reach(forMs: number): Promise<boolean>;
  /** Hears of each extension that was confirmed; returns how to stop hearing. Must not throw. */
  onExtended(listener: () => void): () => void;
  /** Deletes the message: the job is done. The lease is extended until SQS confirms. */
  ack(): Promise<EndOutcome>;
  /** Gives the message back after a failure, visible after `delayMs`. */
  retry(delayMs: number): Promise<EndOutcome>;
  /** Gives the message back without a failure, visible after `delayMs`. */
  release(delayMs: number, releaseClass: ReleaseClass): Promise<EndOutcome>;
  /**
   * Copies the message to the dead-letter queue with the reason, then deletes it.
   *
   * @param refusedDelayMs - when to retry the message if that queue refuses the copy (it is gone,
   * access is denied); without it the lease lapses, and the message is back after what is left of it
   */
  deadLetter(reason: DeadLetterReason, refusedDelayMs?: number): Promise<EndOutcome>;
  /**
   * Makes no call any more, not even an extension: another may have the message, and whatever is said
   * of it would be said of theirs. It runs out by itself.
   * @param code - why, a stable word
   */
  letGo(code: string): Promise<EndOutcome>;
  /**
   * Deletes the message of a lease that was lost, once. Only for a message that nobody needs any more,
   * because its job is done for good, whoever holds it now. No call is made on a FIFO queue, which
   * would refuse it, nor on a lease that was not lost. Never rejects.
   */
  discard(): Promise<void>;
}
