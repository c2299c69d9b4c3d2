/** Writes that are tried again until they are answered, for a while or to the end of the process. */

import type { Clock } from "@leasehold/clock";
import type { JobIdentity } from "@leasehold/job";
import type { JobRecord } from "./ledger-record.ts";
import type { LedgerStore, LedgerWrite, WriteAnswer } from "./ledger-store.ts";

/** How long a write is tried. */
export interface Patience {
  /** On the monotonic clock; to the end of the process when absent. */
  readonly untilMs?: number;
  /** Hears of each try that was not answered. */
  readonly onFailure?: (error: unknown) => void;
}

/** What waiting needs. */
export interface PatientStoreArguments {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly longestPauseMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Aborts at the end of the process. */
  readonly stopping: AbortSignal;
}

const FIRST_PAUSE_MS = 50;

/** A store whose writes are repeated. */
export class PatientStore {
  readonly #parts: PatientStoreArguments;

  constructor(parts: PatientStoreArguments) {
    this.#parts = parts;
  }

  /** The record of a job in one try; `undefined` when there is none, or no answer. */
  async peek(job: JobIdentity): Promise<JobRecord | undefined> {
    try {
      return await this.#parts.store.read(job);
    } catch {
      return undefined; // whoever peeks goes on without
    }
  }

  /**
   * The answer, or `undefined` when there was none in time. At least one try is made, and the same
   * write is sent each time, so one that had been made unnoticed is known.
   */
  async write(write: LedgerWrite, patience: Patience): Promise<WriteAnswer | undefined> {
    const { store, clock, stopping, longestPauseMs, random } = this.#parts;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await store.write(write);
      } catch (error) {
        patience.onFailure?.(error);
      }
      const waitMs = pauseMs * (0.5 + random() / 2);
      const untilMs = patience.untilMs ?? Number.POSITIVE_INFINITY;
      if (stopping.aborted || clock.monotonicMs() + waitMs > untilMs) return undefined;
      await clock.sleep(waitMs, stopping);
      if (stopping.aborted) return undefined;
    }
  }
}
