/** Room for jobs: reserved by polls, kept by runs, shared by all queues of a worker. */

import type { Clock } from "@leasehold/clock";

/** The slots of one worker. Every slot that is taken is given back exactly once. */
export class Slots {
  readonly total: number;
  readonly #clock: Clock;
  #listeners: readonly (() => void)[] = [];
  #serveFirst: () => void = () => {};
  #reserved = 0;
  #busy = 0;
  #freeSinceMs: number;

  constructor(total: number, clock: Clock) {
    this.total = total;
    this.#clock = clock;
    this.#freeSinceMs = clock.monotonicMs();
  }

  /** Neither reserved by a poll nor kept by a run. */
  get free(): number {
    return Math.max(0, this.total - this.#busy - this.#reserved);
  }

  /** Slots in which a run is. */
  get busy(): number {
    return this.#busy;
  }

  /**
   * Whether more messages came than there is room for: a held one took a slot that a poll had
   * reserved, and the poll brought all that it asked for. One of them has to be held.
   */
  get isOverdrawn(): boolean {
    return this.#busy > this.total;
  }

  /** Since when, on the monotonic clock, a slot has been free without a break. */
  get freeSinceMs(): number {
    return this.#freeSinceMs;
  }

  /** Takes slots out for a poll; never more than are free. */
  reserve(wanted: number): number {
    const taken = Math.min(wanted, this.free);
    this.#reserved += taken;
    return taken;
  }

  /** The poll brought work: this many of its slots are used. */
  occupy(slots: number): void {
    this.#reserved -= slots;
    this.#busy += slots;
  }

  /** The poll is over: slots that it did not use are free again. */
  unreserve(slots: number): void {
    this.#putBack(slots, () => {
      this.#reserved -= slots;
    });
  }

  /** A slot for a message that is here already; it goes before polls, also before open ones. */
  take(): boolean {
    if (this.#busy >= this.total) return false;
    this.#busy += 1;
    return true;
  }

  /** A run is over, or is held without a slot. */
  vacate(): void {
    this.#putBack(1, () => {
      this.#busy -= 1;
    });
  }

  /** Calls `serve` whenever slots were put back, before anybody who would claim. */
  serveFirst(serve: () => void): void {
    this.#serveFirst = serve;
  }

  /** Calls `listener` whenever slots are free that were not, or may be another's turn. */
  onFree(listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Tells all who wait of what is free, if anything is. */
  offer(): void {
    if (this.free === 0) return;
    const [first, ...others] = this.#listeners;
    if (first === undefined) return;
    // Whoever was asked first is asked last the next time, so that no queue starves beside another.
    this.#listeners = [...others, first];
    for (const listener of [first, ...others]) listener();
  }

  #putBack(slots: number, apply: () => void): void {
    if (slots <= 0) return;
    const wasFull = this.free === 0;
    apply();
    this.#serveFirst();
    if (wasFull) this.#freeSinceMs = this.#clock.monotonicMs();
    this.offer();
  }
}
