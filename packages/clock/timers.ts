/** The sleep that every clock has, built on its timers. */

import type { CancelTimer } from "./clock.ts";

/** Resolves after `durationMs` of the given timers, or as soon as `signal` aborts. */
export function sleepOn(
  schedule: (delayMs: number, run: () => void) => CancelTimer,
  durationMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => {
    cancel();
    signal?.removeEventListener("abort", wake);
    resolve();
  };
  const cancel = schedule(durationMs, wake);
  signal?.addEventListener("abort", wake, { once: true });
  return promise;
}
