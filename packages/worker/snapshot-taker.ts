/** Takes a snapshot of a worker's parts. */

import type { LeaseSource } from "@leasehold/lease";
import type { ClaimLoop } from "./claim-loop.ts";
import { judgeHealth } from "./health.ts";
import type { HeldRuns } from "./held-runs.ts";
import type { Slots } from "./slots.ts";
import type { Totals } from "./tally.ts";
import type { WorkerSnapshot } from "./worker-snapshot.ts";

/** What a snapshot is taken of. */
export interface SnapshotFacts
  extends Pick<
    WorkerSnapshot,
    "workerId" | "service" | "version" | "phase" | "startedAtMs" | "drainByMs" | "killAtMs"
  > {
  readonly slots: Slots;
  readonly queues: readonly { readonly loop: ClaimLoop; readonly source: LeaseSource }[];
  readonly runs: HeldRuns;
  readonly totals: Totals;
  /** Why nothing is claimed; nothing when all that is needed is there. */
  readonly outage: string | undefined;
}

/** The worker as it is now. */
export function takeSnapshot({
  slots,
  queues,
  runs,
  totals,
  outage,
  ...facts
}: SnapshotFacts): WorkerSnapshot {
  const stalls = queues.flatMap(({ loop }) => loop.stalled ?? []);
  const { lapsing: _, ...counted } = totals;
  return {
    ...facts,
    health: judgeHealth(facts.phase, stalls, outage),
    slots: { total: slots.total, busy: slots.busy },
    queues: queues.map(({ loop, source }) => ({
      name: loop.queueName,
      openPolls: loop.openPolls,
      oldestPollMs: loop.oldestPollMs,
      unconfirmedAcks: source.unconfirmedAcks,
      backoffMs: loop.backoffMs,
    })),
    held: runs.snapshot(),
    totals: counted,
  };
}
