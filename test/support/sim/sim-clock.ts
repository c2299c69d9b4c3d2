/** A clock that jumps from timer to timer, one turn of the event loop for each. */

import type { CancelTimer, Clock } from "@leasehold/clock";

interface Timer {
  readonly dueAtMs: number;
  readonly order: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** More timers than that at one moment mean that somebody sets them again and again. */
const MOST_AT_ONCE = 20_000;
const START_WALL_MS = Date.UTC(2026, 0, 1);

/** Nothing here uses ports or `setImmediate`, so one turn lets every promise chain come to rest. */
export class SimClock implements Clock {
  #nowMs = 0;
  #order = 0;
  /** A heap by due time and order. */
  readonly #heap: Timer[] = [];

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return START_WALL_MS + this.#nowMs;
  }

  schedule(delayMs: number, run: () => void): CancelTimer {
    this.#order += 1;
    const dueAtMs = this.#nowMs + Math.max(0, delayMs);
    const timer: Timer = { dueAtMs, order: this.#order, run, isCancelled: false };
    this.#push(timer);
    return () => {
      timer.isCancelled = true;
    };
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, durationMs, signal);
  }

  /**
   * Runs everything until the time comes, nothing is left, or `isOver` says so.
   * @throws Error when time stands still, because timers are set for now without end
   */
  async runUntil(untilMs: number, isOver: () => boolean): Promise<void> {
    await turn();
    let atOnce = 0;
    while (!isOver()) {
      const timer = this.#pop();
      if (timer === undefined || timer.dueAtMs > untilMs) return;
      if (timer.isCancelled) continue;
      atOnce = timer.dueAtMs > this.#nowMs ? 0 : atOnce + 1;
      if (atOnce > MOST_AT_ONCE) throw new Error(`time stands still at ${this.#nowMs} ms`);
      this.#nowMs = Math.max(this.#nowMs, timer.dueAtMs);
      timer.run();
      await turn();
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isEarlier(heap[index] as Timer, heap[parent] as Timer)) return;
      [heap[index], heap[parent]] = [heap[parent] as Timer, heap[index] as Timer];
      index = parent;
    }
  }

  #pop(): Timer | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        const isBetter =
          child < heap.length && isEarlier(heap[child] as Timer, heap[least] as Timer);
        if (isBetter) least = child;
      }
      if (least === index) return first;
      [heap[index], heap[least]] = [heap[least] as Timer, heap[index] as Timer];
      index = least;
    }
  }
}

/** A sleep on any timers. */
export function sleepOn(
  clock: Pick<Clock, "schedule">,
  durationMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      cancel();
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const cancel = clock.schedule(durationMs, wake);
    signal?.addEventListener("abort", wake, { once: true });
  });
}

function isEarlier(a: Timer, b: Timer): boolean {
  return a.dueAtMs < b.dueAtMs || (a.dueAtMs === b.dueAtMs && a.order < b.order);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
