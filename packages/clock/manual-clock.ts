/** A clock that moves only when told, and lets everyone woken settle first. For tests only. */

import type { CancelTimer, Clock } from "./clock.ts";
import { sleepOn } from "./timers.ts";

interface Timer {
  readonly dueAtMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Turns of the event loop in which promise chains, `setImmediate` and message ports come to rest. */
const SETTLE_TURNS = 3;

/** A clock whose time stands still between two calls of `advance`. */
export class ManualClock implements Clock {
  #monotonicMs = 0;
  #wallOffsetMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  /** @param startWallMs - Unix time at the start, 2026-01-01T00:00:00Z unless told otherwise */
  constructor(startWallMs: number = Date.UTC(2026, 0, 1)) {
    this.#wallOffsetMs = startWallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  wallMs(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn((delayMs, run) => this.schedule(delayMs, run), durationMs, signal);
  }

  schedule(delayMs: number, run: () => void): CancelTimer {
    this.#order += 1;
    const dueAtMs = this.#monotonicMs + Math.max(0, delayMs);
    const timer: Timer = { dueAtMs, order: this.#order, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that wait: zero when everything that was started has ended. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, on the monotonic clock; `undefined` when none waits. */
  get nextDueAtMs(): number | undefined {
    return this.#next(Number.POSITIVE_INFINITY)?.dueAtMs;
  }

  /** Moves time on: each timer that falls due fires in its order, and what it woke settles first. */
  async advance(durationMs: number): Promise<void> {
    const untilMs = this.#monotonicMs + durationMs;
    await this.settle();
    for (let timer = this.#next(untilMs); timer !== undefined; timer = this.#next(untilMs)) {
      this.#timers.delete(timer);
      this.#monotonicMs = Math.max(this.#monotonicMs, timer.dueAtMs);
      timer.run();
      await this.settle();
    }
    this.#monotonicMs = untilMs;
  }

  /**
   * Moves time on in one jump without running anything on the way, as a blocked event loop sees it:
   * overdue timers fire afterwards, late.
   */
  async block(durationMs: number): Promise<void> {
    this.#monotonicMs += durationMs;
    await this.advance(0);
  }

  /** Steps the wall clock only, as NTP does, or as a VM sees it that was suspended for `byMs`. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Lets all that is ready run, without moving time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < SETTLE_TURNS; turn += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAtMs > untilMs) continue;
      if (
        next === undefined ||
        timer.dueAtMs < next.dueAtMs ||
        (timer.dueAtMs === next.dueAtMs && timer.order < next.order)
      ) {
        next = timer;
      }
    }
    return next;
  }
}
