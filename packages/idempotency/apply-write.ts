/** What a write does to a record, and whether it has been made already. Pure. */

import { isDeepStrictEqual } from "node:util";
import type { JobIdentity } from "@leasehold/job";
import { type EffectRecord, isOpenEffect, type JobRecord } from "./ledger-record.ts";
import type {
  EffectCondition,
  LedgerWrite,
  RecordField,
  RecordPatch,
  WriteCondition,
} from "./ledger-store.ts";

/** Whether the write may be made. */
export function holds(record: JobRecord | undefined, condition: WriteCondition): boolean {
  if (condition.absent === true) return record === undefined;
  if (record === undefined) return false;
  const { epoch, owner, states, effect, closed = [], parkToken, resendToken } = condition;
  return (
    (epoch === undefined || record.epoch === epoch) &&
    (owner === undefined || record.owner === owner) &&
    (states === undefined || states.includes(record.state)) &&
    (effect === undefined || effectHolds(record.effects[effect.name], effect)) &&
    closed.every((name) => isClosed(record.effects[name])) &&
    (parkToken === undefined || record.parked?.token === parkToken) &&
    (resendToken === undefined || record.resendToken === resendToken)
  );
}

function isClosed(effect: EffectRecord | undefined): boolean {
  return effect !== undefined && !isOpenEffect(effect);
}

function effectHolds(effect: EffectRecord | undefined, condition: EffectCondition): boolean {
  if (effect === undefined) return condition.orAbsent === true;
  const { states, nonce, attempts } = condition;
  return (
    states.includes(effect.state) &&
    (nonce === undefined || effect.nonce === nonce) &&
    (attempts === undefined || effect.attempts === attempts)
  );
}

/** The record after the write. */
export function patched(
  record: JobRecord | undefined,
  job: JobIdentity,
  { set, remove = [], effects = {} }: RecordPatch,
): JobRecord {
  const { tenantId, jobId, jobType } = job;
  const next: Record<string, unknown> = { ...record, ...set, tenantId, jobId, jobType };
  for (const field of remove) delete next[field];
  next["effects"] = { ...record?.effects, ...effects };
  return next as unknown as JobRecord;
}

/** Other writes of the same owner change them in between. */
const PASSING: ReadonlySet<string> = new Set<RecordField>([
  "updatedAtMs",
  "leaseUntilMs",
  "expiresAtMs",
]);

/**
 * Whether the record is as the write would make it: an earlier try of the same write had succeeded
 * and its answer was lost. Owners, nonces and tokens are used once, so no other write looks like it.
 */
export function isMade(
  record: JobRecord | undefined,
  { condition, patch }: Pick<LedgerWrite, "condition" | "patch">,
): boolean {
  if (record === undefined) return false;
  const { set, remove = [], effects = {} } = patch;
  const fence = { epoch: set.epoch ?? condition.epoch, owner: set.owner ?? condition.owner };
  const isOurs =
    (fence.epoch === undefined || fence.epoch === record.epoch) &&
    (fence.owner === undefined || fence.owner === record.owner);
  const isSameState = set.state !== undefined || (condition.states?.includes(record.state) ?? true);
  const lasting = Object.entries(set).filter(([field]) => !PASSING.has(field));
  const leavesNoMark = lasting.length === 0 && Object.keys(effects).length === 0;
  if (leavesNoMark && remove.every((field) => PASSING.has(field))) return false;
  return (
    isOurs &&
    isSameState &&
    lasting.every(([field, value]) => isDeepStrictEqual(record[field as RecordField], value)) &&
    remove.every((field) => PASSING.has(field) || record[field] === undefined) &&
    Object.entries(effects).every(([name, effect]) =>
      isDeepStrictEqual(record.effects[name], effect),
    )
  );
}
