/** The clock of this process; the only file that asks the system for the time. */

import type { CancelTimer, Clock } from "./clock.ts";
import { sleepOn } from "./timers.ts";

/** The longest delay that one Node timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Not `performance.now`, which starts anew in each thread: threads compare their moments. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

function schedule(delayMs: number, run: () => void): CancelTimer {
  const dueAtMs = monotonicMs() + delayMs;
  let timer: NodeJS.Timeout;
  const arm = () => {
    const leftMs = Math.max(0, dueAtMs - monotonicMs());
    timer = setTimeout(leftMs > LONGEST_TIMER_MS ? arm : run, Math.min(leftMs, LONGEST_TIMER_MS));
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/**
 * The time of this machine. Its timers are unreferenced: whoever must keep the process alive holds
 * a handle of its own (`process-host` does), so a forgotten timer never keeps a stopped worker up.
 * Its monotonic time is one and the same in all threads of a process.
 */
export const systemClock: Clock = Object.freeze({
  monotonicMs,
  wallMs: () => Date.now(),
  sleep: (durationMs: number, signal?: AbortSignal) => sleepOn(schedule, durationMs, signal),
  schedule,
});
