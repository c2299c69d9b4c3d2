/** Receives of a FIFO queue that are asked again under their id when their answer was lost. */

import { randomUUID } from "node:crypto";
import { type Clock, elapsedMs, type Moment, now } from "@leasehold/clock";
import { ATTEMPT_INTERVAL_MS } from "./limits.ts";

/** One receive, also when it is sent more than once. */
export interface ReceiveAttempt {
  readonly id: string;
  readonly maxMessages: number;
  /** When it was sent first: what it took counts its twelve hours from then. */
  readonly firstSentAt: Moment;
}

/**
 * What a receive took whose answer never came is hidden until its visibility timeout is over, and
 * with it the rest of its groups. Asked under the same id SQS hands it out again.
 *
 * @see SQS API Reference, ReceiveMessage, "ReceiveRequestAttemptId"
 */
export class ReceiveAttempts {
  readonly #clock: Clock;
  readonly #rememberedMs: number;
  #lost: ReceiveAttempt[] = [];

  constructor(clock: Clock, visibilityTimeoutMs: number) {
    this.#clock = clock;
    // Later the messages are free for everybody, and a new receive is as good.
    this.#rememberedMs = Math.min(visibilityTimeoutMs, ATTEMPT_INTERVAL_MS);
  }

  /** A receive that was lost, unless it may bring more than is asked for now; or else a new one. */
  begin(maxMessages: number): ReceiveAttempt {
    const isKnown = ({ firstSentAt }: ReceiveAttempt) =>
      elapsedMs(this.#clock, firstSentAt) < this.#rememberedMs;
    this.#lost = this.#lost.filter(isKnown);
    const again = this.#lost.find((attempt) => attempt.maxMessages <= maxMessages);
    if (again === undefined) {
      return { id: randomUUID(), maxMessages, firstSentAt: now(this.#clock) };
    }
    this.#lost = this.#lost.filter((attempt) => attempt !== again);
    return again;
  }

  /** No answer came, or none that says what was taken. */
  lose(attempt: ReceiveAttempt): void {
    this.#lost.push(attempt);
  }
}
