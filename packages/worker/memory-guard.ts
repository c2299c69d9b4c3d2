/** Keeps a worker from claiming more work while its memory is short. */

import type { Clock } from "@leasehold/clock";
import type { WorkerLifeEvent } from "./worker-event.ts";

/** How much memory is in use, and how much there may be. */
export interface MemoryUse {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** What a guard is made of. */
export interface MemoryGuardParts {
  readonly clock: Clock;
  /** The share of the limit above which nothing is claimed. */
  readonly share: number;
  /** Tells the use now; `undefined` when there is no limit. */
  readonly read: () => MemoryUse | undefined;
  readonly onEvent: (event: WorkerLifeEvent) => void;
}

/** For how long one look holds: a claim may ask many times in a moment. */
const LOOK_HOLDS_MS = 100;
/** How far below the share the use has to fall, so that the guard does not flutter. */
const EASED_SHARE = 0.95;

/**
 * Whether memory is short. Jobs that run go on, and their ends make it better; a claim would only
 * make it worse. A full memory is no reason to be killed, so liveness never hears of it.
 */
export class MemoryGuard {
  readonly #parts: MemoryGuardParts;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #shortSinceMs: number | undefined;
  #isEaseUntold = false;

  constructor(parts: MemoryGuardParts) {
    this.#parts = parts;
  }

  /** Looks, when the last look is not of this moment. */
  get isShort(): boolean {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#lookedAtMs >= LOOK_HOLDS_MS) this.#look(nowMs);
    return this.#shortSinceMs !== undefined;
  }

  /** Looks, and tells whether memory has become enough again since this was asked last. */
  hasEased(): boolean {
    const hasEased = !this.isShort && this.#isEaseUntold;
    this.#isEaseUntold = false;
    return hasEased;
  }

  #look(nowMs: number): void {
    this.#lookedAtMs = nowMs;
    const { share, onEvent } = this.#parts;
    const use = this.#read();
    const usedShare = use === undefined ? 0 : use.usedBytes / use.limitBytes;
    if (this.#shortSinceMs === undefined) {
      if (use === undefined || usedShare <= share) return;
      this.#shortSinceMs = nowMs;
      onEvent({ kind: "claim.memory-short", ...use, share });
    } else if (usedShare <= share * EASED_SHARE) {
      const shortForMs = nowMs - this.#shortSinceMs;
      this.#shortSinceMs = undefined;
      this.#isEaseUntold = true;
      onEvent({ kind: "claim.memory-eased", ...use, shortForMs });
    }
  }

  /** A reader that fails knows nothing, which is no reason to stop. */
  #read(): MemoryUse | undefined {
    try {
      return this.#parts.read();
    } catch {
      return undefined; // The guard is a comfort; without its reader the worker still works.
    }
  }
}
