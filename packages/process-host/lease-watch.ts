/** Whether a worker holds leases, and whether it drains, as its events tell. */

import type { Worker, WorkerEvent } from "@leasehold/worker";

/** Who wants to know. Called at edges only, not for each lease. */
export interface LeaseWatcher {
  onBusy(isBusy: boolean): void;
  onDrain(): void;
}

/** The last word of every lease is one of these. */
const ENDINGS: ReadonlySet<WorkerEvent["kind"]> = new Set<WorkerEvent["kind"]>([
  "lease.acked",
  "lease.retried",
  "lease.released",
  "lease.dead-lettered",
  "lease.lost",
  "lease.lapsing",
]);

/** Follows a worker from now on; returns how to stop. */
export function watchLeases(worker: Pick<Worker, "onEvent">, watcher: LeaseWatcher): () => void {
  // By identity: a worker reports each lease with one and the same object.
  const held = new Set<object>();
  return worker.onEvent((event) => {
    if (event.kind === "drain.started") watcher.onDrain();
    if (!("lease" in event)) return;
    const wasBusy = held.size > 0;
    if (event.kind === "lease.claimed") held.add(event.lease);
    else if (ENDINGS.has(event.kind)) held.delete(event.lease);
    const isBusy = held.size > 0;
    if (isBusy !== wasBusy) watcher.onBusy(isBusy);
  });
}
