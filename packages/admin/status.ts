/** The state of the worker as JSON, with each held message by tenant and job. */

import type { HeldSnapshot, QueueSnapshot, WorkerSnapshot } from "@leasehold/worker";

/** A snapshot in snake_case: points in time in ISO 8601, durations in `_ms`. */
export type StatusObject = Readonly<Record<string, unknown>>;

/** The worker now, for people and machines; what is not known is `null`, never absent. */
export function statusObject(snapshot: WorkerSnapshot): StatusObject {
  return {
    service: snapshot.service,
    version: snapshot.version,
    worker_id: snapshot.workerId,
    phase: snapshot.phase,
    health: {
      ready: snapshot.health.ready,
      alive: snapshot.health.alive,
      reasons: snapshot.health.reasons,
    },
    started_at: isoTime(snapshot.startedAtMs),
    drain_by: isoTime(snapshot.drainByMs),
    kill_at: isoTime(snapshot.killAtMs),
    slots: { total: snapshot.slots.total, busy: snapshot.slots.busy },
    queues: snapshot.queues.map(queueObject),
    held: snapshot.held.map(heldObject),
    totals: {
      claimed: snapshot.totals.claimed,
      acked: snapshot.totals.acked,
      retried: snapshot.totals.retried,
      released: snapshot.totals.released,
      dead_lettered: snapshot.totals.deadLettered,
      lost: snapshot.totals.lost,
      extended: snapshot.totals.extended,
    },
  };
}

function queueObject(queue: QueueSnapshot): StatusObject {
  return {
    name: queue.name,
    open_polls: queue.openPolls,
    oldest_poll_ms: queue.oldestPollMs,
    unconfirmed_acks: queue.unconfirmedAcks,
    backoff_ms: queue.backoffMs,
  };
}

function heldObject(held: HeldSnapshot): StatusObject {
  return {
    tenant_id: held.job?.tenantId ?? null,
    job_id: held.job?.jobId ?? null,
    job_type: held.job?.jobType ?? null,
    queue: held.queue,
    message_id: held.messageId,
    receive_count: held.receiveCount,
    lease_state: held.leaseState,
    started: held.started,
    held_ms: held.heldMs,
    lease_remaining_ms: held.leaseRemainingMs,
  };
}

function isoTime(unixMs: number | undefined): string | null {
  return unixMs === undefined ? null : new Date(unixMs).toISOString();
}
