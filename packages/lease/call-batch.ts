/** Gathers entries for a moment, so that up to ten share a call. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import { MAX_BATCH_ENTRIES } from "./limits.ts";

/** What a batch needs. */
export interface CallBatchParts<Entry> {
  readonly clock: Clock;
  /** Asked for each batch anew, so that a drain can end the lingering. */
  readonly lingerMs: () => number;
  /** Takes one to ten entries; must not throw. */
  readonly send: (entries: readonly Entry[]) => void;
}

/** Entries that wait for company: ten go at once, fewer when the first has waited long enough. */
export class CallBatch<Entry> {
  readonly #parts: CallBatchParts<Entry>;
  #waiting: Entry[] = [];
  #cancelTimer: CancelTimer | undefined;

  constructor(parts: CallBatchParts<Entry>) {
    this.#parts = parts;
  }

  add(entry: Entry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length < MAX_BATCH_ENTRIES) this.#startTimer();
    else this.flush();
  }

  /** Sends what waits now. */
  flush(): void {
    const entries = this.clear();
    if (entries.length > 0) this.#parts.send(entries);
  }

  /** Forgets what waits, and returns it. */
  clear(): readonly Entry[] {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const entries = this.#waiting;
    this.#waiting = [];
    return entries;
  }

  #startTimer(): void {
    const { clock, lingerMs } = this.#parts;
    this.#cancelTimer ??= clock.schedule(lingerMs(), () => this.flush());
  }
}
