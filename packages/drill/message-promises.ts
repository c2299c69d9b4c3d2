/** What is owed to each message: not lost, not doubled, given back in time. Pure. */

import type { DrillRecord } from "./drill-record.ts";
import { type HandlerRun, handlerRuns } from "./handler-runs.ts";
import type { Judged } from "./judged.ts";
import { type MessageCall, messageCalls } from "./message-calls.ts";
import type { Expectation } from "./scenario.ts";

/** What the promises are judged by. */
export interface MessageFacts {
  readonly record: DrillRecord;
  readonly calls: readonly MessageCall[];
  readonly runs: readonly HandlerRun[];
  readonly expectation: Expectation;
}

/** The facts of one scenario, as it was seen. */
export function messageFacts(record: DrillRecord, expectation: Expectation): MessageFacts {
  return { record, calls: messageCalls(record), runs: handlerRuns(record), expectation };
}

/** From a release to the next start elsewhere, at most. */
export const RESTART_WITHIN_MS = 2_000;

/** The promises that are kept to messages. */
export function messagePromises(facts: MessageFacts): readonly Judged[] {
  return [
    nothingLost(facts),
    nothingDeletedUnfinished(facts),
    noTwins(facts),
    releasedOnce(facts),
    ...startsNothingInDrain(facts),
    ...startedElsewhere(facts),
    ...inOrder(facts),
    ...deletesNothing(facts),
    ...backInTime(facts),
    ...effectsOnce(facts),
  ];
}

/**
 * From each release that SQS took to the next start of the message, in another worker, as soon as that
 * one is ready. Of a group that has its order, from the last release before that start: until then the
 * group was locked.
 */
export function restartGaps({ record, calls, runs, expectation }: MessageFacts): readonly number[] {
  if (expectation.backlog === true) return [];
  const readyAtMs = new Map(
    record.workers.map(({ name, lines }) => [
      name,
      lines.find(({ event }) => event === "worker.ready")?.atMs ?? 0,
    ]),
  );
  const releases = calls.filter(({ kind, ok }) => kind === "release" && ok);
  return releases.flatMap(({ atMs, answeredAtMs = atMs, messageId, worker }) => {
    const next = runs.find((run) => run.messageId === messageId && run.startedAtMs > atMs);
    if (next === undefined || next.worker === worker) return [];
    const earlier = releases.flatMap((release) => release.answeredAtMs ?? []);
    const unlocked = earlier.filter((moment) => moment <= next.startedAtMs);
    const sinceMs = expectation.inOrder === true ? Math.max(...unlocked) : answeredAtMs;
    return [Math.max(0, next.startedAtMs - Math.max(sinceMs, readyAtMs.get(next.worker) ?? 0))];
  });
}

/** A message is done, dead, or there. */
function nothingLost({ record: { sent, left }, calls }: MessageFacts): Judged {
  const deleted = new Set(calls.filter(isDone).map(({ messageId }) => messageId));
  const gone = sent.filter(({ messageId }) => deleted.has(messageId)).length;
  const missing = sent.length - gone - left.onQueue;
  return {
    promise: "nothing lost",
    held: missing <= 0 && left.dead === 0,
    seen: `${sent.length} sent, ${gone} done, ${left.onQueue} on the queue, ${left.dead} dead`,
  };
}

function isDone({ kind, ok }: MessageCall): boolean {
  return kind === "delete" && ok;
}

/** Its job has been finished before, here or, where a ledger knows of it, elsewhere. */
function nothingDeletedUnfinished({ calls, runs }: MessageFacts): Judged {
  const early = calls.filter(
    (call) =>
      isDone(call) &&
      !runs.some(
        ({ messageId, outcome, endedAtMs = Number.POSITIVE_INFINITY }) =>
          messageId === call.messageId &&
          outcome === "succeeded" &&
          // The worker's line and the wire have stamps of two processes.
          endedAtMs <= call.atMs + STAMP_MS,
      ),
  );
  return {
    promise: "nothing deleted unfinished",
    held: early.length === 0,
    seen: early.length === 0 ? "none" : early.map(callText).join("; "),
  };
}

const STAMP_MS = 100;

function noTwins({ runs, expectation }: MessageFacts): Judged {
  const twins = runs.filter((run, index) =>
    runs
      .slice(0, index)
      .some(
        (earlier) =>
          earlier.messageId === run.messageId &&
          (earlier.endedAtMs ?? Number.POSITIVE_INFINITY) > run.startedAtMs,
      ),
  );
  const seen = twins.length === 0 ? "none" : twins.map(({ jobId }) => jobId).join(", ");
  const isMeant = expectation.twins === true;
  return {
    promise: isMeant
      ? "twins, as a lease is lost on purpose"
      : "no message worked on twice at a time",
    held: isMeant || twins.length === 0,
    seen,
  };
}

/** A second release would free somebody else's lease. */
function releasedOnce({ calls }: MessageFacts): Judged {
  const releases = calls.filter(({ kind, ok }) => kind === "release" && ok);
  const doubled = releases.filter(({ messageId, worker, atMs }, index) => {
    const before = releases
      .slice(0, index)
      .findLast((call) => call.messageId === messageId && call.worker === worker);
    const isReceivedBetween = calls.some(
      (call) =>
        call.kind === "receive" &&
        call.messageId === messageId &&
        call.worker === worker &&
        before !== undefined &&
        call.atMs > before.atMs &&
        call.atMs < atMs,
    );
    return before !== undefined && !isReceivedBetween;
  });
  return {
    promise: "each lease released once at most",
    held: doubled.length === 0,
    seen: doubled.length === 0 ? `${releases.length} released` : doubled.map(callText).join("; "),
  };
}

/** By the worker's own stamps, so no machine is too busy for it. */
function startsNothingInDrain({ record: { workers }, runs }: MessageFacts): readonly Judged[] {
  const drains = workers.flatMap(({ name, lines }) => {
    const started = lines.find(({ event }) => event === "drain.started");
    return started === undefined ? [] : [{ name, atMs: started.atMs }];
  });
  if (drains.length === 0) return [];
  const late = runs.filter((run) =>
    drains.some(({ name, atMs }) => name === run.worker && run.startedAtMs > atMs),
  );
  const seen = late.map(({ jobId, worker }) => `${jobId} by ${worker}`).join("; ");
  const promise = "nothing started in a drain";
  return [{ promise, held: late.length === 0, seen: seen === "" ? "none" : seen }];
}

function startedElsewhere(facts: MessageFacts): readonly Judged[] {
  const gaps = restartGaps(facts);
  if (gaps.length === 0) return [];
  const worst = Math.max(...gaps);
  return [
    {
      promise: "started elsewhere as soon as released",
      held: worst <= RESTART_WITHIN_MS,
      seen: `${Math.round(worst)} ms after the release`,
      bound: `${RESTART_WITHIN_MS} ms`,
      overMs: worst - RESTART_WITHIN_MS,
    },
  ];
}

function inOrder({ record: { sent }, calls, expectation }: MessageFacts): readonly Judged[] {
  if (expectation.inOrder !== true) return [];
  const place = new Map(sent.map(({ messageId }, index) => [messageId, index + 1]));
  const done = calls.filter(isDone).flatMap(({ messageId }) => place.get(messageId) ?? []);
  const held = done.every((nth, index) => nth === index + 1);
  return [{ promise: "the group in its order", held, seen: done.join(", ") }];
}

function deletesNothing({ calls, expectation }: MessageFacts): readonly Judged[] {
  return (expectation.deletesNothing ?? []).map((worker) => {
    const deletes = calls.filter((call) => call.worker === worker && call.kind === "delete");
    const seen = deletes.length === 0 ? "none" : deletes.map(callText).join("; ");
    return { promise: `${worker} deletes nothing`, held: deletes.length === 0, seen };
  });
}

function backInTime({ record, calls, expectation }: MessageFacts): readonly Judged[] {
  const { backWithinMs } = expectation;
  if (backWithinMs === undefined) return [];
  const boundMs = backWithinMs(record.timings);
  const [cut] = record.workers;
  const signalledAtMs = cut?.signals[0]?.atMs ?? 0;
  const back = calls.find(({ kind, worker }) => kind === "receive" && worker !== cut?.name);
  const lateMs = back === undefined ? undefined : back.atMs - signalledAtMs;
  return [
    {
      promise: "received again in time",
      held: lateMs !== undefined && lateMs <= boundMs,
      seen: lateMs === undefined ? "never" : `+${Math.round(lateMs)} ms after the first signal`,
      bound: `+${boundMs} ms`,
      // What never comes back is no matter of speed.
      ...(lateMs !== undefined && { overMs: lateMs - boundMs }),
    },
  ];
}

function effectsOnce({ record: { effects }, expectation }: MessageFacts): readonly Judged[] {
  if (expectation.effects !== true || effects === undefined) return [];
  const wrong = [...effects].filter(([, times]) => times !== 1);
  const shown = wrong.map(([name, times]) => `${name}: ${times}`).join(", ");
  const held = wrong.length === 0 && effects.size > 0;
  const seen = wrong.length === 0 ? `${effects.size} effects, each once` : shown;
  return [{ promise: "every effect once", held, seen }];
}

function callText({ worker, messageId, kind }: MessageCall): string {
  return `${kind} of ${messageId} by ${worker}`;
}
