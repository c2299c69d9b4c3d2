/** The writes that make or open a record. Pure. */

import type { GivenUp, JobIdentity } from "@leasehold/job";
import type { EffectRecord, JobRecord, Parked } from "./ledger-record.ts";
import type { EffectCondition, LedgerWrite } from "./ledger-store.ts";

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
export function startable(name: string): EffectCondition {
  return { name, states: ["released"], orAbsent: true };
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
    : { starts: seen.starts + 1, endings: endingsOf(seen, opening.nowMs) };
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

/**
 * The endings that are known by now. A delivery while the last one's lease still ran is SQS's doing:
 * that run goes on, and will be fenced, but nobody died under it.
 */
function endingsOf({ starts, endings, leaseUntilMs }: JobRecord, nowMs: number): number {
  const isCut = starts > endings && leaseUntilMs > nowMs;
  return isCut ? endings + 1 : endings;
}

/** Parks a job that has no record and is too old for its absence to mean anything. */
export function parkNew(opening: Opening, parked: Parked): LedgerWrite {
  const opened = openNew(opening);
  const { expiresAtMs: _, ...set } = opened.patch.set;
  const parkedSet = { state: "parked", parked, leaseUntilMs: 0, endings: 1 } as const;
  return { ...opened, name: "park", patch: { set: { ...set, ...parkedSet } } };
}

/** The record of a run that ended without having had one. */
export function endNew(opening: Opening, ended: LedgerWrite["patch"]["set"]): LedgerWrite {
  const opened = openNew(opening);
  return { ...opened, name: "end", patch: { set: { ...opened.patch.set, ...ended } } };
}

/** The next opening of a job that has a record, by a run that ended without having known of it. */
export function endNext(
  seen: JobRecord,
  opening: Opening,
  ended: LedgerWrite["patch"]["set"],
): LedgerWrite {
  const { expiresAtMs } = opening;
  const opened = openNext(seen, opening);
  const set = { ...opened.patch.set, ...ended, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  const remove = opened.patch.remove?.filter((field) => !(field in set));
  return { ...opened, name: "end", patch: { set, ...(remove !== undefined && { remove }) } };
}

/** The record of a job that is cancelled before it came. */
export function cancelNew(opening: Opening, reason: GivenUp): LedgerWrite {
  const opened = openNew(opening);
  const cancelled = { state: "cancelled", reason, starts: 0 } as const;
  return { ...opened, name: "cancel", patch: { set: { ...opened.patch.set, ...cancelled } } };
}
