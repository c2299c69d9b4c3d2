/** Records how an attempt ended, whoever has the job by now, and tries it to the end of the process. */

import type { CancelTimer } from "@leasehold/clock";
import { decideRefused, type RefusedCompletion } from "./completion-decision.ts";
import { type Completion, complete, completeAndFinish, completeLate } from "./effect-writes.ts";
import type { EffectRecord, JobRecord, StoredResult } from "./ledger-record.ts";
import type { LedgerSession } from "./ledger-session.ts";
import type { LedgerWrite, WriteAnswer } from "./ledger-store.ts";
import { parkRejected } from "./operator-writes.ts";
import { parkedBy } from "./parking.ts";

/** An attempt that ended. */
export interface EndedAttempt {
  readonly name: string;
  readonly own: EffectRecord;
  readonly completion: Completion;
  /** Finishes the job in the same write where that can be. */
  readonly isLast: boolean;
  /** The provider's id of what happened. */
  readonly reference?: string;
}

/**
 * Records it. While the store does not answer, this does not return, until the run must stop: then
 * the recording goes on in the background.
 * @returns the result that stands when another attempt was recorded first, otherwise nothing
 * @throws ControlOutcomeError when the job is not ours any more, or it could not be recorded
 */
export async function recordCompletion(
  session: LedgerSession,
  ended: EndedAttempt,
): Promise<StoredResult | undefined> {
  if (ended.completion.outcome === "rejected") return await record(session, ended);
  const recording = record(session, ended);
  session.parts.keep(recording);
  const leaving = leave(session);
  try {
    return await Promise.race([recording, leaving.gone]);
  } finally {
    leaving.cancel();
  }
}

/** Leaves a handler that must stop, a little later, so that a store that answers can do so. */
function leave(session: LedgerSession): { readonly gone: Promise<never>; cancel(): void } {
  const { parts, surroundings } = session;
  const { signal } = surroundings;
  const { promise, resolve } = Promise.withResolvers<void>();
  let cancelTimer: CancelTimer | undefined;
  const wait = () => {
    cancelTimer = parts.clock.schedule(parts.options.writePatienceMs, resolve);
  };
  if (signal.aborted) wait();
  else signal.addEventListener("abort", wait, { once: true });
  const cancel = () => {
    signal.removeEventListener("abort", wait);
    cancelTimer?.();
  };
  return { gone: promise.then(() => session.stop({ kind: "store-down" })), cancel };
}

async function record(
  session: LedgerSession,
  ended: EndedAttempt,
): Promise<StoredResult | undefined> {
  const { name, own, completion } = ended;
  let write = firstWrite(session, ended);
  for (let refused: JobRecord | undefined, isFirst = true; ; isFirst = false) {
    const answer = await persist(session, write, ended);
    if (answer === undefined) return unrecorded(session, ended);
    if (answer.kind === "applied") {
      reportWritten(session, ended, write);
      // Recorded, and by a worker that has the job no more: only then does it fall silent.
      if (!isFirst) session.judge(refused);
      session.note(write);
      return write.name === "park" ? session.stop({ kind: "parked" }) : undefined;
    }
    refused = answer.record;
    const meaning = decideRefused(refused, name, own, completion);
    const next = await nextWrite(session, ended, meaning, refused);
    if (next === undefined) {
      reportRefused(session, ended, meaning);
      session.judge(refused);
      return meaning.kind === "stands" ? meaning.result : undefined;
    }
    write = next;
  }
}

/** The completion alone, or with the end of the job when nothing else of it is open. */
function firstWrite(session: LedgerSession, ended: EndedAttempt): LedgerWrite {
  const { name, own, completion, isLast } = ended;
  const isFinish =
    isLast &&
    session.outcome === undefined &&
    session.record?.state === "open" &&
    session.allClosedBut(name);
  if (!isFinish) return complete(session.job, name, own, completion);
  const expiresAtMs = session.finalExpiry();
  const closed = Object.keys(session.record.effects).filter((other) => other !== name);
  const end = { nowMs: session.nowMs, closed, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  return completeAndFinish(session.fence, name, own, completion, end);
}

async function nextWrite(
  session: LedgerSession,
  { name, own, completion }: EndedAttempt,
  meaning: RefusedCompletion,
  seen: JobRecord | undefined,
): Promise<LedgerWrite | undefined> {
  if (meaning.kind === "complete") return complete(session.job, name, own, completion);
  if (completion.outcome === "rejected" || seen === undefined) return undefined;
  const { result } = completion;
  if (meaning.kind === "complete-late") {
    return completeLate(session.job, name, meaning.seen, result);
  }
  if (meaning.kind !== "applied-after-rejection" || seen.state === "parked") return undefined;
  const { parts, job, surroundings } = session;
  const parking = { job, surroundings, why: meaning.kind, effect: name };
  const parked = await parkedBy(parts, parking);
  return parked && parkRejected(seen, name, { parked, result, nowMs: session.nowMs });
}

/** What happened must be recorded; what was rejected would only be rejected again. */
function persist(
  session: LedgerSession,
  write: LedgerWrite,
  ended: EndedAttempt,
): Promise<WriteAnswer | undefined> {
  const { parts } = session;
  const { completion, name, reference } = ended;
  const onFailure = session.failureOf(write);
  if (completion.outcome === "rejected") {
    const untilMs = parts.clock.monotonicMs() + parts.options.writePatienceMs;
    return parts.store.write(write, { untilMs, onFailure });
  }
  let isFirst = true;
  return parts.store.write(write, {
    onFailure: (error) => {
      onFailure(error);
      if (isFirst) emitUnrecorded(session, { name, ...(reference && { reference }) }, false);
      isFirst = false;
    },
  });
}

/** The process ends, or a rejection found no ear. */
function unrecorded(session: LedgerSession, ended: EndedAttempt): undefined {
  if (ended.completion.outcome === "rejected") return;
  emitUnrecorded(session, ended, true);
  session.stop({ kind: "store-down" });
}

function emitUnrecorded(
  { parts, job }: LedgerSession,
  { name, reference }: Pick<EndedAttempt, "name" | "reference">,
  final: boolean,
): void {
  const about = { job, effect: name, ...(reference !== undefined && { reference }) };
  parts.emit({ kind: "effect.completion-unrecorded", ...about, final, alarm: final });
}

function reportWritten(
  { parts, job }: LedgerSession,
  { name, reference }: EndedAttempt,
  write: LedgerWrite,
): void {
  const about = { job, effect: name, ...(reference !== undefined && { reference }) };
  if (write.name === "complete-late") parts.emit({ kind: "effect.completed-late", ...about });
  if (write.name !== "park") return;
  parts.emit({ kind: "effect.applied-after-rejection", ...about, alarm: true });
  parts.emit({ kind: "ledger.parked", job, why: "applied-after-rejection", effect: name });
}

function reportRefused(
  { parts, job }: LedgerSession,
  { name, reference, completion }: EndedAttempt,
  meaning: RefusedCompletion,
): void {
  const about = { job, effect: name, ...(reference !== undefined && { reference }) };
  if (meaning.kind === "stands" && meaning.differs) {
    parts.emit({ kind: "effect.results-differ", ...about, alarm: true });
  } else if (meaning.kind === "applied-after-rejection") {
    parts.emit({ kind: "effect.applied-after-rejection", ...about, alarm: true });
  } else if (meaning.kind === "missing" && completion.outcome === "ok") {
    parts.emit({ kind: "effect.record-missing", ...about, alarm: true });
  }
}
