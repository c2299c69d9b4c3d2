/** The job ledger at the end of a worker. */

import type { Clock } from "@leasehold/clock";
import type { WorkerLedger } from "@leasehold/job";

/** How long the ledger may take to say what it gives up, when the flush deadline has passed. */
const GIVE_UP_MS = 250;

/**
 * Stops the ledger. What could not be recorded is told before the process goes.
 *
 * @returns when that is told, within a quarter of a second; nothing when there is nothing to tell
 */
export function stopLedger(
  ledger: Pick<WorkerLedger, "unrecorded" | "stop"> | undefined,
  clock: Clock,
): Promise<void> | undefined {
  const hasToTell = ledger !== undefined && ledger.unrecorded > 0;
  const stopped = ledger?.stop();
  if (stopped === undefined || !hasToTell) return undefined;
  const over = new AbortController();
  return Promise.race([stopped, clock.sleep(GIVE_UP_MS, over.signal)]).finally(() => over.abort());
}
