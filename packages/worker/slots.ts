/** Room for jobs: reserved by polls, kept by runs, shared by all queues of a worker. */

import type { Clock } from "@leasehold/clock";

/** The slots of one worker. Every slot that is reserved is given back exactly once. */
export class Slots {
  readonly total: number;
  readonly #clock: Clock;
  #listeners: readonly (() => void)[] = [];
  #free: number;
  #busy = 0;
  #freeSinceMs: number;

  constructor(total: number, clock: Clock) {
    this.total = total;
    this.#clock = clock;
    this.#free = total;
    this.#freeSinceMs = clock.monotonicMs();
  }

  get free(): number {
    return this.#free;
  }

  /** Slots in which a run is. */
  get busy(): number {
    return this.#busy;
  }

  /** Since when, on the monotonic clock, a slot has been free without a break. */
  get freeSinceMs(): number {
    return this.#freeSinceMs;
  }

  /** Takes slots out for a poll; never more than are free. */
  reserve(wanted: number): number {
    const taken = Math.min(wanted, this.#free);
    this.#free -= taken;
    return taken;
  }

  /** The poll brought work: this many of its slots are used. */
  occupy(slots: number): void {
    this.#busy += slots;
  }

  /** The poll is over: slots that it did not use are free again. */
  unreserve(slots: number): void {
    this.#putBack(slots);
  }

  /** A run is over. */
  vacate(): void {
    this.#busy -= 1;
    this.#putBack(1);
  }

  /** Calls `listener` whenever slots were put back. */
  onFree(listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  #putBack(slots: number): void {
    if (slots <= 0) return;
    if (this.#free === 0) this.#freeSinceMs = this.#clock.monotonicMs();
    this.#free += slots;
    const [first, ...others] = this.#listeners;
    if (first === undefined) return;
    // Whoever was asked first is asked last the next time, so that no queue starves beside another.
    this.#listeners = [...others, first];
    for (const listener of [first, ...others]) listener();
  }
}
