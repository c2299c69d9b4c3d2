/** Notices a blocked event loop, so that a signal heard late is not taken for a fresh one. */

import type { CancelTimer, Clock } from "@leasehold/clock";

const PERIOD_MS = 500;
/** Later than this a beat was held up by more than a busy moment, which the contract's margin covers. */
const BLOCKED_AFTER_MS = 1_500;

/**
 * The beat of the event loop.
 *
 * The platform counts its grace from the moment it sent the signal. A handler that blocks the loop
 * keeps that moment from us, but not the end of the last turn before the block.
 */
export class LoopPulse {
  readonly #clock: Clock;
  readonly #onBeat: () => void;
  #turnAtMs: number;
  #blockedSinceMs: number | undefined;
  #cancel: CancelTimer = () => {};

  /** @param onBeat - called at every beat, for whatever wants to look now and then */
  constructor(clock: Clock, onBeat: () => void) {
    this.#clock = clock;
    this.#onBeat = onBeat;
    this.#turnAtMs = clock.monotonicMs();
  }

  start(): void {
    this.#turnAtMs = this.#clock.monotonicMs();
    this.#schedule();
  }

  stop(): void {
    this.#cancel();
  }

  /** The earliest moment, on the monotonic clock, at which a signal heard now may have been sent. */
  earliestSignalAtMs(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#turnAtMs > BLOCKED_AFTER_MS) return this.#turnAtMs;
    return this.#blockedSinceMs ?? nowMs;
  }

  #beat(): void {
    const nowMs = this.#clock.monotonicMs();
    // Kept for one beat: the timer may run before the signal that waited behind the same block.
    this.#blockedSinceMs = nowMs - this.#turnAtMs > BLOCKED_AFTER_MS ? this.#turnAtMs : undefined;
    this.#turnAtMs = nowMs;
    this.#schedule();
    this.#onBeat();
  }

  #schedule(): void {
    this.#cancel = this.#clock.schedule(PERIOD_MS, () => this.#beat());
  }
}
