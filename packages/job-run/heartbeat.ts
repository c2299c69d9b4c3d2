/** Lets the job ledger's lease follow the message's, at one write a period at most. */

import type { Clock } from "@leasehold/clock";
import type { OpenJob } from "@leasehold/job";
import type { Lease } from "@leasehold/lease";

/** Whose lease follows which. */
export interface HeartbeatParts {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly effects: OpenJob;
  /** The period in which leases are extended. */
  readonly everyMs: number;
}

/** Jitter brings an extension forward by a tenth of its period; one that came along in a call, by more. */
const SHORTEST_SHARE = 0.85;

/**
 * Tells the ledger of each confirmed extension until the returned function is called. What it is told
 * is what the lease is sure of then, so that the ledger's lease never outlives it.
 */
export function keepHeartbeat({ clock, lease, effects, everyMs }: HeartbeatParts): () => void {
  let lastAtMs = clock.monotonicMs();
  let isOut = false;
  return lease.onExtended(() => {
    const nowMs = clock.monotonicMs();
    if (isOut || nowMs - lastAtMs < everyMs * SHORTEST_SHARE) return;
    isOut = true;
    lastAtMs = nowMs;
    void effects.heartbeat(clock.wallMs() + lease.remainingMs()).finally(() => {
      isOut = false;
    });
  });
}
