/** The beats of both threads in shared memory, so that each notices when the other stands still. */

import type { Clock } from "@leasehold/clock";

/** Whose beat it is. */
export type Pulsing = "main" | "extender";

const WORDS: Readonly<Record<Pulsing, number>> = { main: 0, extender: 1 };
const MICROSECONDS = 1_000;

/** Memory for both beats. */
export function newPulse(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
}

/** The two beats, seen from either thread; moments are on the monotonic clock, which they share. */
export class SharedPulse {
  readonly #words: BigInt64Array;
  readonly #clock: Clock;

  constructor(memory: SharedArrayBuffer, clock: Clock) {
    this.#words = new BigInt64Array(memory);
    this.#clock = clock;
  }

  beat(who: Pulsing): void {
    const atMicroseconds = BigInt(Math.floor(this.#clock.monotonicMs() * MICROSECONDS));
    Atomics.store(this.#words, WORDS[who], atMicroseconds);
  }

  /** How long ago the last beat was. */
  silentMs(who: Pulsing): number {
    const atMs = Number(Atomics.load(this.#words, WORDS[who])) / MICROSECONDS;
    return this.#clock.monotonicMs() - atMs;
  }
}
