/** Leases, polls and slots at this moment, as data. */

import type { JobIdentity } from "@leasehold/job";
import type { Health } from "./health.ts";
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
