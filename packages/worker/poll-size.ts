/** How many messages one poll of a queue may bring, so that none is used up by receives unrun. */

import type { Clock } from "@leasehold/clock";
import type { Lease } from "@leasehold/lease";

/** What the size depends on. */
export interface PollSizeParts {
  readonly clock: Clock;
  readonly fifo: boolean;
  /** Receives after which SQS itself dead-letters. */
  readonly maxReceiveCount: number;
}

/** The most messages that one ReceiveMessage brings. */
const FULL_POLL = 10;
/** Fewer receives than this are soon used up. */
const MANY_RECEIVES = 100;
/**
 * The longest that a message can be hidden before it comes again. Taken once in this time, what is
 * behind it is not used up within the fourteen days for which SQS keeps a message.
 */
const CARE_MS = 43_200_000;

/**
 * The size of a queue's polls: ten, and on a FIFO queue one where receives are scarce.
 *
 * A poll of ten may bring several messages of a group, and whatever sends the first one back sends
 * back those behind it, at a receive each. Where a queue allows few receives, or messages have come
 * that have used half of theirs, SQS would in the end dead-letter messages that have never run.
 */
export class PollSize {
  readonly #parts: PollSizeParts;
  #worn: { readonly atMs: number } | undefined;

  constructor(parts: PollSizeParts) {
    this.#parts = parts;
  }

  /** The most messages that the next poll may bring. */
  get most(): number {
    const { clock, fifo, maxReceiveCount } = this.#parts;
    if (!fifo) return FULL_POLL;
    const isCareful = this.#worn !== undefined && clock.monotonicMs() - this.#worn.atMs < CARE_MS;
    return isCareful || maxReceiveCount < MANY_RECEIVES ? 1 : FULL_POLL;
  }

  /** A poll has brought these. */
  note(leases: readonly Pick<Lease, "message">[]): void {
    const { clock, maxReceiveCount } = this.#parts;
    const isWorn = leases.some(({ message }) => message.receiveCount > maxReceiveCount / 2);
    if (isWorn) this.#worn = { atMs: clock.monotonicMs() };
  }
}
