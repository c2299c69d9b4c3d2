/** One message held for a time: extended, then acked, retried, released, dead-lettered or lost. */

import type { Moment } from "@leasehold/clock";
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
  /** How long the lease is safely held if nothing extends it any more; 0 when it is not held. */
  remainingMs(): number;
  /** What is left of SQS's twelve hours since the receive, less the margin. */
  holdRemainingMs(): number;
  /** @throws LeaseLostError */
  assertHeld(): void;
  /** Deletes the message: the job is done. The lease is extended until SQS confirms. */
  ack(): Promise<EndOutcome>;
  /** Gives the message back after a failure, visible after `delayMs`. */
  retry(delayMs: number): Promise<EndOutcome>;
  /** Gives the message back without a failure, visible after `delayMs`. */
  release(delayMs: number, releaseClass: ReleaseClass): Promise<EndOutcome>;
  /** Copies the message to the dead-letter queue with the reason, then deletes it. */
  deadLetter(reason: DeadLetterReason): Promise<EndOutcome>;
}
