/** Leases, polls and slots at this moment, as data. */

import type { JobIdentity } from "@leasehold/job";
import type { LeaseSource } from "@leasehold/lease";
import type { ClaimLoop } from "./claim-loop.ts";
import { type Health, judgeHealth } from "./health.ts";
import type { HeldRuns } from "./held-runs.ts";
import type { Slots } from "./slots.ts";
import type { Totals } from "./tally.ts";
import type { WorkerPhase } from "./worker-event.ts";

/** One message that is held now. */
export interface HeldSnapshot {
  readonly queue: string;
  readonly messageId: string;
  readonly receiveCount: number;
  readonly job?: JobIdentity;
  readonly leaseState: string;
  readonly started: boolean;
  readonly heldMs: number;
  readonly leaseRemainingMs: number;
}

/** One queue of the worker now. */
export interface QueueSnapshot {
  readonly name: string;
  readonly openPolls: number;
  readonly oldestPollMs: number;
  readonly unconfirmedAcks: number;
  /** 0 unless the queue backs off after errors. */
  readonly backoffMs: number;
}

/** The whole worker now; a copy that does not change. */
export interface WorkerSnapshot {
  readonly workerId: string;
  readonly service: string;
  readonly version: string;
  readonly phase: WorkerPhase;
  readonly health: Health;
  readonly startedAtMs: number;
  /** Unix time; only in a drain. */
  readonly drainByMs?: number;
  readonly killAtMs?: number;
  readonly slots: { readonly total: number; readonly busy: number };
  readonly queues: readonly QueueSnapshot[];
  readonly held: readonly HeldSnapshot[];
  /** Since the start. */
  readonly totals: {
    readonly claimed: number;
    readonly acked: number;
    readonly retried: number;
    readonly released: number;
    readonly deadLettered: number;
    readonly lost: number;
    readonly extended: number;
  };
}

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
}

/** The worker as it is now. */
export function takeSnapshot({
  slots,
  queues,
  runs,
  totals,
  ...facts
}: SnapshotFacts): WorkerSnapshot {
  const stalls = queues.flatMap(({ loop }) => loop.stalled ?? []);
  const { lapsing: _, ...counted } = totals;
  return {
    ...facts,
    health: judgeHealth(facts.phase, stalls),
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
