/** A ledger record for machines: everything but payloads. Pure. */

import type { EffectRecord, JobRecord } from "@leasehold/idempotency";

/** The record as one object; points in time are ISO 8601 in UTC. */
export function recordFields(record: JobRecord): Readonly<Record<string, unknown>> {
  const { parked, resolution, reason, checkpoint, expiresAtMs } = record;
  return {
    tenant_id: record.tenantId,
    job_type: record.jobType,
    job_id: record.jobId,
    state: record.state,
    generation: record.generation,
    epoch: record.epoch,
    owner: record.owner,
    lease_until: moment(record.leaseUntilMs),
    message_id: record.messageId,
    receive_count: record.receiveCount,
    failures: record.failures,
    interruptions: record.interruptions,
    put_offs: record.putOffs,
    starts: record.starts,
    endings: record.endings,
    checkpoint_bytes: checkpoint === undefined ? 0 : Buffer.byteLength(checkpoint),
    created_at: moment(record.createdAtMs),
    updated_at: moment(record.updatedAtMs),
    ...(expiresAtMs === undefined ? {} : { expires_at: moment(expiresAtMs) }),
    ...(reason === undefined ? {} : { reason }),
    ...(parked === undefined ? {} : { parked: parkedFields(parked) }),
    ...(resolution === undefined ? {} : { resolution: resolutionFields(resolution) }),
    is_resend_pending: record.resendToken !== undefined,
    effects: Object.fromEntries(
      Object.entries(record.effects).map(([name, effect]) => [name, effectFields(effect)]),
    ),
  };
}

/** Without the message: a payload is nobody's business here. */
function parkedFields({ atMs, why, effect, message }: NonNullable<JobRecord["parked"]>) {
  return {
    why,
    ...(effect === undefined ? {} : { effect }),
    since: moment(atMs),
    ...(message.kind === "inline" ? { queue: message.message.queue } : { message_at: message.at }),
  };
}

function resolutionFields({ atMs, ...rest }: NonNullable<JobRecord["resolution"]>) {
  return { ...rest, at: moment(atMs) };
}

function effectFields(effect: EffectRecord) {
  const { result, lateResult, outcome, rejection } = effect;
  return {
    state: effect.state,
    ...(outcome === undefined ? {} : { outcome }),
    attempts: effect.attempts,
    epoch: effect.epoch,
    first_sent_at: moment(effect.firstSentAtMs),
    deadline_at: moment(effect.deadlineAtMs),
    provider_key: effect.providerKey,
    ...(result === undefined ? {} : { result: resultFields(result) }),
    ...(rejection === undefined ? {} : { rejection }),
    ...(lateResult === undefined ? {} : { late_result: resultFields(lateResult) }),
    is_late: effect.late === true,
    is_kept_for_ever: effect.tombstone === true,
  };
}

function resultFields(result: NonNullable<EffectRecord["result"]>): unknown {
  return result.kind === "inline" ? { kind: "inline", value: JSON.parse(result.json) } : result;
}

function moment(atMs: number): string {
  return new Date(atMs).toISOString();
}
