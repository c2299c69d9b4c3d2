/** How long one queue is left alone after an answer or an error, and when patience is at an end. */

import { crowdedPauseMs, earlyEmptyPauseMs, errorPauseMs } from "./poll-plan.ts";

/** What an answer means for the next poll. */
export interface Answer {
  readonly nowMs: number;
  readonly received: number;
  readonly durationMs: number;
  readonly waitMs: number;
  /** Whether messages over a cap waited in slots when the poll was made. */
  readonly wasCrowded: boolean;
}

/** What an error means for the next poll. */
export interface Failure {
  readonly nowMs: number;
  /** Whether it may pass by itself. */
  readonly retryable: boolean;
  /** In [0, 1). */
  readonly random: number;
}

/**
 * The pauses of one queue: each reason to pause that comes again makes the next pause longer, and
 * the first answer without it ends them.
 */
export class ClaimPauses {
  readonly #patienceMs: number;
  #isReached = false;
  #errors = 0;
  #earlyEmptyPolls = 0;
  #crowdedPolls = 0;
  #untilMs = 0;
  #failingSinceMs: number | undefined;

  /** @param patienceMs - how long failures may last: any at the start, final ones later */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Whether the queue has ever answered. */
  get isReached(): boolean {
    return this.#isReached;
  }

  leftMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }

  /** What is left of the pause after an error; 0 when the queue answers. */
  backoffMs(nowMs: number): number {
    return this.#errors > 0 ? this.leftMs(nowMs) : 0;
  }

  /** From now on the queue has to answer. */
  start(nowMs: number): void {
    this.#failingSinceMs = nowMs;
  }

  answered({ nowMs, received, durationMs, waitMs, wasCrowded }: Answer): void {
    const isEarly = received === 0 && durationMs < waitMs / 2;
    this.#isReached = true;
    this.#errors = 0;
    this.#failingSinceMs = undefined;
    this.#earlyEmptyPolls = isEarly ? this.#earlyEmptyPolls + 1 : 0;
    this.#crowdedPolls = wasCrowded ? this.#crowdedPolls + 1 : 0;
    const earlyMs = isEarly ? earlyEmptyPauseMs(this.#earlyEmptyPolls) : 0;
    const crowdedMs = wasCrowded ? crowdedPauseMs(this.#crowdedPolls) : 0;
    this.#untilMs = nowMs + Math.max(earlyMs, crowdedMs);
  }

  /** @returns when to try again, or `undefined` when patience is at an end */
  failed({ nowMs, retryable, random }: Failure): number | undefined {
    this.#errors += 1;
    if (this.#isReached)
      this.#failingSinceMs = retryable ? undefined : (this.#failingSinceMs ?? nowMs);
    const pauseMs = errorPauseMs(this.#errors, random);
    const patienceLeftMs = (this.#failingSinceMs ?? nowMs) + this.#patienceMs - nowMs;
    const isCounted = this.#failingSinceMs !== undefined;
    if (isCounted && patienceLeftMs <= 0) return undefined;
    const retryInMs = isCounted ? Math.min(pauseMs, patienceLeftMs) : pauseMs;
    this.#untilMs = Math.max(this.#untilMs, nowMs + retryInMs);
    return retryInMs;
  }
}
