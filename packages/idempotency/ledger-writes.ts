/** Each write that there is: what it changes, and on what condition. Pure. */

import type { JobIdentity } from "@leasehold/job";
import {
  type EffectRecord,
  type JobRecord,
  type Parked,
  type Resolution,
  type StoredResult,
} from "./ledger-record.ts";
import type { EffectCondition, LedgerWrite, RecordPatch } from "./ledger-store.ts";

/** Who may write: the opening that this epoch was given to. */
export interface Fence {
  readonly job: JobIdentity;
  readonly epoch: number;
  readonly owner: string;
}

/** What an opening writes of itself. */
export interface Opening {
  readonly job: JobIdentity;
  readonly owner: string;
  readonly leaseUntilMs: number;
  readonly messageId: string;
  readonly receiveCount: number;
  readonly payloadHash: string;
  readonly nowMs: number;
  /** Of a new record; absent when an effect is started in the same write. */
  readonly expiresAtMs?: number;
}

/** An effect that is started in the write that opens its job. */
export interface Started {
  readonly name: string;
  readonly effect: EffectRecord;
}

const NEW_COUNTS = { failures: 0, interruptions: 0, putOffs: 0, starts: 1, endings: 0 } as const;

/** An effect that was never started, or certainly never sent. */
function startable(name: string): EffectCondition {
  return { name, states: ["released"], orAbsent: true };
}

function expiry(expiresAtMs: number | undefined): Pick<RecordPatch, "remove"> & {
  readonly set: { readonly expiresAtMs?: number };
} {
  return expiresAtMs === undefined ? { set: {}, remove: ["expiresAtMs"] } : { set: { expiresAtMs } };
}

function fenced({ epoch, owner }: Fence) {
  return { epoch, owner, states: ["open"] } as const;
}

function ofOpening(opening: Opening) {
  const { owner, leaseUntilMs, messageId, receiveCount, payloadHash, nowMs } = opening;
  return { owner, leaseUntilMs, messageId, receiveCount, payloadHash, updatedAtMs: nowMs };
}

/** Makes the record of a job that has none, and starts its first effect if there is one. */
export function openNew(opening: Opening, started?: Started): LedgerWrite {
  const { job, nowMs, expiresAtMs } = opening;
  return {
    name: "open-new",
    job,
    condition: { absent: true },
    patch: {
      set: {
        ...ofOpening(opening),
        state: "open",
        generation: 1,
        epoch: 1,
        createdAtMs: nowMs,
        ...NEW_COUNTS,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
      },
      ...(started !== undefined && { effects: { [started.name]: started.effect } }),
    },
    returnsRecord: true,
  };
}

/** Opens a job that has a record: the next epoch, on condition that nobody was faster. */
export function openNext(seen: JobRecord, opening: Opening, started?: Started): LedgerWrite {
  const isDead = seen.state === "dead";
  const counts = isDead
    ? { ...NEW_COUNTS, generation: seen.generation + 1 }
    : { starts: seen.starts + 1 };
  return {
    name: "open-next",
    job: opening.job,
    condition: {
      epoch: seen.epoch,
      owner: seen.owner,
      states: [seen.state],
      ...(started !== undefined && { effect: startable(started.name) }),
    },
    patch: {
      set: { ...ofOpening(opening), state: "open", epoch: seen.epoch + 1, ...counts },
      // Whoever was seen may have started an effect since: the next fenced write knows.
      remove: ["expiresAtMs", ...(isDead ? (["reason"] as const) : [])],
      ...(started !== undefined && { effects: { [started.name]: started.effect } }),
    },
    returnsRecord: true,
  };
}

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
  { oldNonce, leaseUntilMs, nowMs }: Pick<Opening, "leaseUntilMs" | "nowMs"> & {
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
export function unknownEffect(job: JobIdentity, name: string, own: EffectRecord): LedgerWrite {
  return {
    name: "unknown-effect",
    job,
    condition: { effect: { name, states: ["started"], nonce: own.nonce } },
    patch: { set: {}, effects: { [name]: { ...own, state: "unknown" } } },
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

/** How a finished job is kept. */
export interface Finish {
  readonly nowMs: number;
  /** Absent when it is kept for ever. */
  readonly expiresAtMs?: number;
  /** JSON. */
  readonly result?: string;
  /** Effects that must be closed in the record. */
  readonly closed: readonly string[];
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

/** Ends a job whose effects are all closed. */
export function finish(fence: Fence, { nowMs, expiresAtMs, result, closed }: Finish): LedgerWrite {
  const { set, remove } = expiry(expiresAtMs);
  return {
    name: "finish",
    job: fence.job,
    condition: { ...fenced(fence), ...(closed.length > 0 && { closed }) },
    patch: {
      set: {
        state: "done",
        leaseUntilMs: 0,
        updatedAtMs: nowMs,
        ...(result !== undefined && { result }),
        ...set,
      },
      ...(remove !== undefined && { remove }),
    },
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

/** An attempt happened that a later one was rejected for: an operator must look at it. */
export function parkRejected(
  seen: JobRecord,
  name: string,
  { parked, result, nowMs }: {
    readonly parked: Parked;
    readonly result: StoredResult;
    readonly nowMs: number;
  },
): LedgerWrite {
  const effect = seen.effects[name] as EffectRecord;
  return {
    name: "park",
    job: seen,
    condition: {
      states: ["open", "done", "dead", "cancelled"],
      effect: { name, states: ["done"], nonce: effect.nonce },
    },
    patch: {
      set: { state: "parked", parked, leaseUntilMs: 0, updatedAtMs: nowMs },
      remove: ["expiresAtMs", "resendToken"],
      effects: { [name]: { ...effect, lateResult: result } },
    },
  };
}

/** Leaves an open effect, or a job too old to be proved, to an operator. */
export function parkJob(
  fence: Fence,
  { seen, parked, open, nowMs }: {
    readonly seen: JobRecord;
    readonly parked: Parked;
    /** The open effect, unless the job is parked for its age. */
    readonly open?: Started;
    readonly nowMs: number;
  },
): LedgerWrite {
  const states = ["started", "unknown"] as const;
  const effect = open && { name: open.name, states, nonce: open.effect.nonce };
  return {
    name: "park",
    job: fence.job,
    condition: { ...fenced(fence), ...(effect !== undefined && { effect }) },
    patch: {
      set: {
        state: "parked",
        parked,
        leaseUntilMs: 0,
        updatedAtMs: nowMs,
        endings: seen.endings + 1,
      },
      remove: ["expiresAtMs", "resendToken"],
    },
  };
}

/** Parks a job that has no record and is too old for its absence to mean anything. */
export function parkNew(opening: Opening, parked: Parked): LedgerWrite {
  const opened = openNew(opening);
  const { expiresAtMs: _, ...set } = opened.patch.set;
  const parkedSet = { state: "parked", parked, leaseUntilMs: 0, endings: 1 } as const;
  return { ...opened, name: "park", patch: { set: { ...set, ...parkedSet } } };
}

/**
 * Saves progress; the interruptions before it are forgotten. Says nothing of the expiry: it may land
 * after an effect was started that was not known of when it was written.
 */
export function saveCheckpoint(
  fence: Fence,
  checkpoint: string,
  { leaseUntilMs, nowMs }: Pick<Opening, "leaseUntilMs" | "nowMs">,
): LedgerWrite {
  const set = { checkpoint, interruptions: 0, leaseUntilMs, updatedAtMs: nowMs };
  return { name: "checkpoint", job: fence.job, condition: fenced(fence), patch: { set } };
}

/** Follows the lease; says nothing of the expiry, for the same reason. */
export function heartbeat(
  fence: Fence,
  { leaseUntilMs, nowMs }: Pick<Opening, "leaseUntilMs" | "nowMs">,
): LedgerWrite {
  const set = { leaseUntilMs, updatedAtMs: nowMs };
  return { name: "heartbeat", job: fence.job, condition: fenced(fence), patch: { set } };
}

/** Records an ending that is not the last, or gives the job up, and frees it for the next delivery. */
export function endRun(
  fence: Fence,
  set: Partial<Pick<JobRecord, "failures" | "interruptions" | "putOffs" | "endings" | "reason">> & {
    readonly state: "open" | "dead";
    readonly nowMs: number;
    readonly expiresAtMs?: number;
  },
): LedgerWrite {
  const { nowMs, expiresAtMs, ...counts } = set;
  return {
    name: "end",
    job: fence.job,
    condition: fenced(fence),
    patch: {
      set: {
        ...counts,
        leaseUntilMs: 0,
        updatedAtMs: nowMs,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
      },
    },
  };
}

/** The record of a run that ended without having had one. */
export function endNew(opening: Opening, ended: LedgerWrite["patch"]["set"]): LedgerWrite {
  const opened = openNew(opening);
  return { ...opened, name: "end", patch: { set: { ...opened.patch.set, ...ended } } };
}

/** An operator's cancellation. Nothing is started afterwards; what was started may still complete. */
export function cancel(seen: JobRecord, reason: string, nowMs: number): LedgerWrite {
  return {
    name: "cancel",
    job: seen,
    condition: { epoch: seen.epoch, owner: seen.owner, states: [seen.state] },
    patch: {
      set: { state: "cancelled", reason, leaseUntilMs: 0, updatedAtMs: nowMs },
      remove: ["expiresAtMs", "parked", "resendToken"],
    },
    returnsRecord: true,
  };
}

/** The record of a job that is cancelled before it came. */
export function cancelNew(opening: Opening, reason: string): LedgerWrite {
  const opened = openNew(opening);
  const cancelled = { state: "cancelled", reason, starts: 0 } as const;
  return { ...opened, name: "cancel", patch: { set: { ...opened.patch.set, ...cancelled } } };
}

/** Lets the record of a cancelled job go in time, now that nothing can start any more. */
export function expireCancelled(cancelled: JobRecord, expiresAtMs: number): LedgerWrite {
  const closed = Object.keys(cancelled.effects);
  return {
    name: "expire",
    job: cancelled,
    condition: { states: ["cancelled"], ...(closed.length > 0 && { closed }) },
    patch: { set: { expiresAtMs } },
  };
}

/** An operator's word on a parked job; its message is to be sent again unless the job is done. */
export function resolveParked(
  seen: JobRecord,
  resolution: Resolution,
  { owner, effects, resendToken }: {
    readonly owner: string;
    readonly effects: JobRecord["effects"];
    /** Absent when nothing is left to run. */
    readonly resendToken?: string;
  },
): LedgerWrite {
  const next = { resolution, owner, epoch: seen.epoch + 1, updatedAtMs: resolution.atMs };
  const isOver = resendToken === undefined;
  return {
    name: "resolve",
    job: seen,
    condition: {
      epoch: seen.epoch,
      states: ["parked"],
      ...(seen.parked !== undefined && { parkToken: seen.parked.token }),
    },
    patch: {
      set: {
        ...next,
        state: isOver ? "done" : "open",
        ...(isOver ? {} : { resendToken, vouched: true as const }),
      },
      ...(isOver && { remove: ["parked"] }),
      effects,
    },
    returnsRecord: true,
  };
}

/** The stored message was sent again. */
export function clearResend(job: JobIdentity, resendToken: string, nowMs: number): LedgerWrite {
  return {
    name: "clear-resend",
    job,
    condition: { resendToken },
    patch: { set: { updatedAtMs: nowMs }, remove: ["resendToken", "parked"] },
  };
}
