/** Waits for an answer, but not for ever. */

import type { Clock } from "@leasehold/clock";

/** How long to wait, and what to say when that was too short. */
export interface Patience {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly tooLate: () => Error;
}

/** What `waited` brings; rejects with `tooLate` when that takes too long. Leaves no timer behind. */
export function within<Value>(waited: Promise<Value>, patience: Patience): Promise<Value> {
  const { clock, timeoutMs, tooLate } = patience;
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const cancelTimer = clock.schedule(timeoutMs, () => reject(tooLate()));
  waited.then(resolve, reject);
  return promise.finally(cancelTimer);
}
