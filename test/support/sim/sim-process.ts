/** One worker process of a simulation: it can stand still, and it can die. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import { type SimClock, sleepOn } from "./sim-clock.ts";

/**
 * A process. Whatever comes to it (timers, answers) comes through its gate: while it stands still
 * everything waits, and once it is dead nothing comes any more.
 */
export class SimProcess implements Clock {
  readonly name: string;
  readonly #world: SimClock;
  /** By how much its wall clock differs. */
  #offsetMs: number;
  /** For how long its machine was suspended: its monotonic clock stood still. */
  #suspendedMs = 0;
  #wakesAtMs = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] | undefined;
  #diedAtMs: number | undefined;

  constructor(name: string, world: SimClock, offsetMs: number) {
    this.name = name;
    this.#world = world;
    this.#offsetMs = offsetMs;
  }

  get isDead(): boolean {
    return this.#diedAtMs !== undefined;
  }

  /** Whether it was killed before that time. */
  wasDeadBy(atMs: number): boolean {
    return this.#diedAtMs !== undefined && this.#diedAtMs <= atMs;
  }

  /** Its program can go on now. */
  get isRunning(): boolean {
    return !this.isDead && this.#waiting === undefined;
  }

  /**
   * It has just been woken with its whole machine: its timers, which stood still as well, are what
   * tells it that time has passed.
   */
  isDrowsy(forMs: number): boolean {
    return this.#world.monotonicMs() < this.#wakesAtMs + forMs;
  }

  monotonicMs(): number {
    return this.#world.monotonicMs() - this.#suspendedMs;
  }

  wallMs(): number {
    return this.#world.wallMs() + this.#offsetMs;
  }

  schedule(delayMs: number, run: () => void): CancelTimer {
    let isCancelled = false;
    let cancel: CancelTimer = () => {};
    const dueAtMs = this.monotonicMs() + delayMs;
    const arm = (leftMs: number) => {
      cancel = this.#world.schedule(leftMs, () => this.enter(ring));
    };
    const ring = () => {
      const leftMs = dueAtMs - this.monotonicMs();
      if (isCancelled) return;
      if (leftMs > 0) arm(leftMs);
      else run();
    };
    arm(delayMs);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, durationMs, signal);
  }

  /** Lets something in as soon as it can go on; never, once it is dead. */
  enter(run: () => void): void {
    if (this.isDead) return;
    if (this.#waiting === undefined) run();
    else this.#waiting.push(run);
  }

  /** An answer from outside, let in as soon as it can go on. */
  async gate<Value>(answer: Promise<Value>): Promise<Value> {
    return await new Promise((resolve, reject) => {
      answer.then(
        (value) => this.enter(() => resolve(value)),
        (error) => this.enter(() => reject(error)),
      );
    });
  }

  /** Stands still, as after SIGSTOP, for so long. */
  pause(durationMs: number): void {
    if (this.isDead || this.#waiting !== undefined) return;
    this.#waiting = [];
    this.#world.schedule(durationMs, () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const run of waiting) this.enter(run);
    });
  }

  /** Stands still with its whole machine: its monotonic clock does not notice, its wall clock does. */
  suspend(durationMs: number): void {
    if (this.isDead || this.#waiting !== undefined) return;
    this.pause(durationMs);
    // Nothing of it runs until then, so nobody sees the clock stand still too early.
    this.#suspendedMs += durationMs;
    this.#wakesAtMs = this.#world.monotonicMs() + durationMs;
  }

  /** Steps its wall clock, as NTP does. */
  stepWall(byMs: number): void {
    this.#offsetMs += byMs;
  }

  kill(): void {
    this.#diedAtMs ??= this.#world.monotonicMs();
    this.#waiting = undefined;
  }
}
