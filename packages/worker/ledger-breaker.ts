/** Keeps a worker from claiming while the job ledger's store does not answer. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { LedgerEvent, WorkerLedger } from "@leasehold/job";
import { describeThrown, type JobEvent } from "@leasehold/job-run";
import type { WorkerLedgerEvent, WorkerLifeEvent } from "./worker-event.ts";

/** What a breaker is made of. */
export interface LedgerBreakerParts {
  readonly clock: Clock;
  /** Without one it never opens. */
  readonly ledger: Pick<WorkerLedger, "isReachable" | "onEvent"> | undefined;
  readonly onEvent: (event: WorkerLifeEvent | WorkerLedgerEvent) => void;
  /** The store answers again: claims may go on. */
  readonly onBack: () => void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** One that trips again so soon after a probe went well pauses for longer than the last time. */
const SOON_MS = 60_000;

/**
 * Opens when a run could not reach the store, and asks the store itself, after a growing pause, before
 * it lets claims go on: a message would cost a receive for the same answer.
 *
 * All claims of the worker pause, for any job may have effects, and one that was delivered before needs
 * its record. Jobs that run go on, and nothing is a reason to be killed.
 */
export class LedgerBreaker {
  readonly #parts: LedgerBreakerParts;
  #pauseMs = 0;
  #downSinceMs: number | undefined;
  #backAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: CancelTimer = () => {};
  #isStopped = false;

  constructor(parts: LedgerBreakerParts) {
    this.#parts = parts;
    parts.ledger?.onEvent((event) => parts.onEvent(toldOf(event)));
  }

  /** Whether nothing is to be claimed now. */
  get isDown(): boolean {
    return this.#downSinceMs !== undefined;
  }

  /** What an operator is told; `undefined` when the store answers. */
  get reason(): string | undefined {
    if (this.#downSinceMs === undefined) return undefined;
    const downForMs = Math.round(this.#parts.clock.monotonicMs() - this.#downSinceMs);
    return `the job ledger's store has not answered for ${downForMs} ms: nothing is claimed`;
  }

  /** A run reports something: perhaps that it could not reach the store. */
  hear(event: JobEvent): void {
    if (event.kind !== "job.stopped" || event.why !== "store-down") return;
    if (this.isDown || this.#isStopped) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#backAtMs > SOON_MS) this.#pauseMs = 0;
    this.#downSinceMs = nowMs;
    this.#pause();
  }

  /** Asks no more: nothing will be claimed. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  #pause(): void {
    const { clock, onEvent } = this.#parts;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    onEvent({ kind: "claim.ledger-down", retryInMs: this.#pauseMs });
    this.#cancelTimer = clock.schedule(this.#pauseMs, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const { clock, ledger, onEvent, onBack } = this.#parts;
    const isBack = await ledger?.isReachable();
    if (this.#isStopped || this.#downSinceMs === undefined) return;
    if (isBack === false) return this.#pause();
    const nowMs = clock.monotonicMs();
    const downForMs = nowMs - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#backAtMs = nowMs;
    onEvent({ kind: "claim.ledger-back", downForMs });
    onBack();
  }
}

/** An event with its error in words, which a log can carry. */
function toldOf(event: LedgerEvent): WorkerLedgerEvent {
  if (event.kind !== "ledger.store-failing") return event;
  return { ...event, error: describeThrown(event.error) };
}
