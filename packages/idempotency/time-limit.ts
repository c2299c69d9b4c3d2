/** The time that one call of a provider may take. */

import { EffectTimeoutError } from "./errors.ts";
import type { LedgerSession } from "./ledger-session.ts";

/** An abort at the deadline of a call, and whenever the run must stop. */
export class TimeLimit {
  readonly #abort = new AbortController();
  readonly #timeoutMs: number;
  readonly #clear: () => void;
  #isOver = () => {};

  constructor({ parts, surroundings }: LedgerSession, timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    const { signal } = surroundings;
    const stop = () => this.#abort.abort(signal.reason);
    // Not `AbortSignal.any`: what it keeps for every call costs more than the call's own record.
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const cancel = parts.clock.schedule(timeoutMs, () => {
      this.#abort.abort();
      this.#isOver();
    });
    this.#clear = () => {
      cancel();
      signal.removeEventListener("abort", stop);
    };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Rejects at the deadline, for a call that does not heed its signal. */
  over(effect: string): Promise<never> {
    return new Promise((_, reject) => {
      this.#isOver = () => reject(new EffectTimeoutError(effect, this.#timeoutMs));
    });
  }

  clear(): void {
    this.#clear();
  }
}
