/** Tells one press from its echo: terminals and npm deliver a single Ctrl-C twice. */

import type { Clock } from "@leasehold/clock";

/** A little more than the worker's own second, so that what counts here counts there, too. */
const ECHO_WITHIN_MS = 1_100;

/** Asks for a dump and stops nothing, so it has no echo to be told apart. */
const DUMP_SIGNAL = "SIGUSR2";

/** Signals as the user meant them, in order, each told once to whoever listens. */
export class SignalPresses {
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<(name: NodeJS.Signals) => void>();
  #lastAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts at the first press. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Takes a signal of the process: passes it on, unless it is the echo of the press before. */
  receive(name: NodeJS.Signals): void {
    if (name !== DUMP_SIGNAL) {
      const nowMs = this.#clock.monotonicMs();
      if (nowMs - this.#lastAtMs < ECHO_WITHIN_MS) return;
      this.#lastAtMs = nowMs;
    }
    for (const listener of this.#listeners) listener(name);
    if (name !== DUMP_SIGNAL) this.#stop.abort();
  }

  /** Hears every press from now on; returns how to stop hearing. */
  onPress(listener: (name: NodeJS.Signals) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
