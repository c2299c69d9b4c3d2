/** The writes that leave a job to an operator, and an operator's own. Pure. */

import type { GivenUp, JobIdentity } from "@leasehold/job";
import { type Fence, fenced } from "./fence.ts";
import type { EffectRecord, JobRecord, Parked, Resolution, StoredResult } from "./ledger-record.ts";
import type { LedgerWrite } from "./ledger-store.ts";
import type { Started } from "./opening-writes.ts";

/** An attempt happened that a later one was rejected for: an operator must look at it. */
export function parkRejected(
  seen: JobRecord,
  name: string,
  {
    parked,
    result,
    nowMs,
  }: {
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
  {
    seen,
    parked,
    open,
    nowMs,
  }: {
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

/** An operator's cancellation. Nothing is started afterwards; what was started may still complete. */
export function cancel(seen: JobRecord, reason: GivenUp, nowMs: number): LedgerWrite {
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
  {
    owner,
    effects,
    resendToken,
  }: {
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
