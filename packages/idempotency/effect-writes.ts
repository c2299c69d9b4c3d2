/** The writes of one effect: started, taken over, and how it ended. Pure. */

import type { JobIdentity } from "@leasehold/job";
import { type Fence, fenced } from "./fence.ts";
import type { EffectRecord, StoredResult } from "./ledger-record.ts";
import type { LedgerWrite } from "./ledger-store.ts";
import { type Opening, type Started, startable } from "./opening-writes.ts";
import { type Finish, finish } from "./run-writes.ts";

/** Marks an effect as started, before its first byte is sent. */
export function startEffect(
  fence: Fence,
  { name, effect }: Started,
  { leaseUntilMs, nowMs }: Pick<Opening, "leaseUntilMs" | "nowMs">,
): LedgerWrite {
  return {
    name: "start",
    job: fence.job,
    condition: { ...fenced(fence), effect: startable(name) },
    patch: {
      set: { leaseUntilMs, updatedAtMs: nowMs },
      remove: ["expiresAtMs"],
      effects: { [name]: effect },
    },
  };
}

/** Takes an open effect over from an attempt that is over, under a nonce of its own. */
export function takeOver(
  fence: Fence,
  { name, effect }: Started,
  {
    oldNonce,
    leaseUntilMs,
    nowMs,
  }: Pick<Opening, "leaseUntilMs" | "nowMs"> & {
    readonly oldNonce: string;
  },
): LedgerWrite {
  return {
    name: "take-over",
    job: fence.job,
    condition: {
      ...fenced(fence),
      effect: { name, states: ["started", "unknown"], nonce: oldNonce },
    },
    patch: { set: { leaseUntilMs, updatedAtMs: nowMs }, effects: { [name]: effect } },
  };
}

/** Says that a first attempt sent nothing. */
export function releaseEffect(job: JobIdentity, name: string, own: EffectRecord): LedgerWrite {
  return {
    name: "release-effect",
    job,
    condition: { effect: { name, states: ["started"], nonce: own.nonce, attempts: 1 } },
    patch: { set: {}, effects: { [name]: { ...own, state: "released", attempts: 0 } } },
  };
}

/** Says that an attempt has ended and does not know how. */
export function unknownEffect(
  job: JobIdentity,
  name: string,
  own: EffectRecord,
  nowMs: number,
): LedgerWrite {
  // A worker that stood still may have sent after its deadline: what settles, settles from then on.
  const deadlineAtMs = Math.max(own.deadlineAtMs, nowMs);
  return {
    name: "unknown-effect",
    job,
    condition: { effect: { name, states: ["started"], nonce: own.nonce } },
    patch: { set: {}, effects: { [name]: { ...own, state: "unknown", deadlineAtMs } } },
  };
}

/** How an attempt ended. */
export type Completion =
  | { readonly outcome: "ok"; readonly result: StoredResult }
  | {
      readonly outcome: "rejected";
      readonly rejection: NonNullable<EffectRecord["rejection"]>;
    };

/** Records how an attempt ended; only the attempt's nonce counts, so a fenced worker can do it, too. */
export function complete(
  job: JobIdentity,
  name: string,
  own: EffectRecord,
  completion: Completion,
): LedgerWrite {
  return {
    name: "complete",
    job,
    condition: { effect: { name, states: ["started", "unknown"], nonce: own.nonce } },
    patch: { set: {}, effects: { [name]: { ...own, state: "done", ...completion } } },
  };
}

/** Completes the last effect of a job and the job with it. */
export function completeAndFinish(
  fence: Fence,
  name: string,
  own: EffectRecord,
  completion: Completion,
  end: Finish,
): LedgerWrite {
  const { condition, patch } = complete(fence.job, name, own, completion);
  const finished = finish(fence, end);
  return {
    ...finished,
    name: "complete-and-finish",
    condition: { ...finished.condition, ...condition },
    patch: { ...finished.patch, ...(patch.effects !== undefined && { effects: patch.effects }) },
  };
}

/**
 * An attempt that was taken over turns out to have happened: the effect is done, whoever is at it
 * now. An effect that an operator called not done is done all the same.
 */
export function completeLate(
  job: JobIdentity,
  name: string,
  seen: EffectRecord,
  result: StoredResult,
): LedgerWrite {
  const done: EffectRecord = { ...seen, state: "done", outcome: "ok", result, late: true };
  return {
    name: "complete-late",
    job,
    condition: {
      effect: { name, states: ["started", "unknown", "released"], nonce: seen.nonce },
    },
    patch: { set: {}, effects: { [name]: done } },
  };
}
