/** The writes of a run: it lives, saves its progress, ends, finishes its job. Pure. */

import { type Fence, fenced } from "./fence.ts";
import type { JobRecord } from "./ledger-record.ts";
import type { LedgerWrite, RecordPatch } from "./ledger-store.ts";
import type { Opening } from "./opening-writes.ts";

function expiry(expiresAtMs: number | undefined): Pick<RecordPatch, "remove"> & {
  readonly set: { readonly expiresAtMs?: number };
} {
  return expiresAtMs === undefined
    ? { set: {}, remove: ["expiresAtMs"] }
    : { set: { expiresAtMs } };
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
