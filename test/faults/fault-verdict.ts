/** Whether a cell of the matrix kept every promise: what its records say against each other. Pure. */

import {
  expiryAt,
  type FaultRecord,
  isLateArrival,
  type ReceiptStory,
  receiptStories,
} from "./fault-record.ts";
import { brokenByLease } from "./lease-verdict.ts";

/** Every promise that was broken, one sentence each; none when all is well. */
export function brokenPromises(record: FaultRecord): readonly string[] {
  const stories = receiptStories(record);
  return [
    ...nothingIsLost(record),
    ...nothingIsAckedUndone(record, stories),
    ...onlyPoisonIsDeadLettered(record),
    ...oneFaultDoublesNoWork(record),
    ...noRunMeetsItsTwin(record),
    ...noPollIsCutOff(record),
    ...stories.flatMap((story) =>
      brokenByLease(story, record).map((problem) => `${nameOf(story)}: ${problem}`),
    ),
    ...exitCodeIsRight(record, stories),
  ];
}

/** Each message ends deleted after its handler succeeded, or in the dead-letter queue. */
function nothingIsLost({ sent, served, left, ...record }: FaultRecord): readonly string[] {
  const deletes = served.flatMap(({ entries, startedAtMs }) =>
    entries.map((entry) => ({ ...entry, atMs: startedAtMs })),
  );
  const problems = sent.flatMap((messageId) => {
    const deleted = deletes.find((one) => one.messageId === messageId && one.outcome === "deleted");
    if (deleted === undefined) return [`message ${messageId} never ended`];
    if (isDone(record, messageId, deleted.atMs)) return [];
    return [`message ${messageId} was deleted, neither done nor copied to the dead-letter queue`];
  });
  return left === 0 ? problems : [...problems, `${left} messages are left in the queue`];
}

/** No delete leaves before its job is done, and no ack is told before the server has deleted. */
function nothingIsAckedUndone(
  record: FaultRecord,
  stories: readonly ReceiptStory[],
): readonly string[] {
  const tooSoon = stories.flatMap((story) =>
    story.requests
      .filter(({ request }) => request.action.startsWith("DeleteMessage"))
      .filter(({ request }) => !isDone(record, story.messageId, request.arrivedAtMs))
      .map(() => `${nameOf(story)}: a delete left before the job was done`),
  );
  const untrue = stories.flatMap((story) => {
    const { ending, messageId } = story;
    const kind = ending?.event.kind;
    if (ending === undefined || (kind !== "lease.acked" && kind !== "lease.dead-lettered"))
      return [];
    const isDeleted = stories.some(
      (other) =>
        other.messageId === messageId &&
        other.deletedAtMs !== undefined &&
        other.deletedAtMs <= ending.atMs,
    );
    return isDeleted ? [] : [`${nameOf(story)}: ${kind} was told, and the message is still there`];
  });
  return [...tooSoon, ...untrue];
}

/** A copy in the dead-letter queue has a run before it that called for it. */
function onlyPoisonIsDeadLettered({ runs, deadLetters }: FaultRecord): readonly string[] {
  return deadLetters
    .filter(
      ({ sourceMessageId, sentAtMs }) =>
        !runs.some(
          ({ messageId, result, endedAtMs = Number.POSITIVE_INFINITY }) =>
            messageId === sourceMessageId && result === "permanent" && endedAtMs <= sentAtMs,
        ),
    )
    .map(({ sourceMessageId }) => `message ${sourceMessageId} was dead-lettered without cause`);
}

/** One fault that passes makes no finished job run again: its delete is tried again instead. */
function oneFaultDoublesNoWork({ sent, runs, isOutage }: FaultRecord): readonly string[] {
  if (isOutage) return [];
  return sent
    .filter(
      (id) => runs.filter(({ messageId, result }) => messageId === id && result === "done")[1],
    )
    .map((id) => `message ${id} was done twice after one fault`);
}

/** One message never has two runs at a time in one process. */
function noRunMeetsItsTwin({ runs, exit }: FaultRecord): readonly string[] {
  const early = runs.filter(({ startedAtMs }) => startedAtMs < exit.atMs);
  return early.flatMap((run, index) =>
    early
      .slice(index + 1)
      .filter(({ messageId }) => messageId === run.messageId)
      .filter(({ startedAtMs }) => startedAtMs < (run.endedAtMs ?? Number.POSITIVE_INFINITY))
      .map(() => `message ${run.messageId} had two runs at a time`),
  );
}

/** A poll that nothing is wrong with is left to end: what it brings would go to nobody. */
function noPollIsCutOff({ proxied, exit }: FaultRecord): readonly string[] {
  if (exit.report.totals.pollsLeft > 0) return [];
  return proxied
    .filter(({ action, fault }) => action === "ReceiveMessage" && fault === undefined)
    .filter(({ clientGoneAtMs }) => clientGoneAtMs !== undefined)
    .map(({ nth }) => `poll ${nth} was cut off`);
}

/**
 * 74 when a lease was left to run out, 76 when a handler did not stop, 75 when work was given back
 * unfinished, else 0. What hides after the exit must have been told.
 */
function exitCodeIsRight(record: FaultRecord, stories: readonly ReceiptStory[]): readonly string[] {
  const { exit, events } = record;
  const { exitCode, unfinished } = exit.report;
  const drainAtMs = events.find(({ event }) => event.kind === "drain.started")?.atMs ?? 0;
  const inDrain = stories.filter(({ ending }) => (ending?.atMs ?? 0) >= drainAtMs);
  const endedAs = (kind: string) => inDrain.filter(({ ending }) => ending?.event.kind === kind);
  const expected = expectedExitCode({
    lapsing: endedAs("lease.lapsing").length,
    ignoring: unfinished.filter(({ ignoredAbort }) => ignoredAbort).length,
    interrupted: endedAs("lease.released").filter((story) => hasStarted(story, record)).length,
    lost: endedAs("lease.lost").length,
  });
  const wrong = expected.includes(exitCode)
    ? []
    : [`the exit code is ${exitCode}, expected ${expected.join(" or ")}`];
  const untold = stories.flatMap((story) => {
    const { ending, messageId } = story;
    if (ending === undefined || ending.atMs < drainAtMs) return [];
    const hidesUntilMs = expiryAt(story, Number.POSITIVE_INFINITY, record);
    const isHidden = story.deletedAtMs === undefined && hidesUntilMs > exit.atMs;
    if (!isHidden || ending.event.kind === "lease.retried") return [];
    const told = unfinished.find((one) => one.messageId === messageId);
    if (told === undefined) return [`${nameOf(story)}: hides after the exit, and nobody was told`];
    const isDelayed = story.requests.some(({ request }) =>
      isLateArrival(request, record.callTimeoutMs),
    );
    const { visibleByMs } = told;
    if (visibleByMs === undefined || isDelayed || visibleByMs >= hidesUntilMs) return [];
    return [`${nameOf(story)}: hides ${hidesUntilMs - visibleByMs} ms longer than was told`];
  });
  return [...wrong, ...untold];
}

function expectedExitCode(ends: {
  readonly lapsing: number;
  readonly ignoring: number;
  readonly interrupted: number;
  readonly lost: number;
}): readonly number[] {
  if (ends.lapsing > 0) return [74];
  if (ends.ignoring > 0) return [76];
  if (ends.interrupted > 0) return [75];
  // A job that had ended when its lease was lost is no unfinished one.
  return ends.lost > 0 ? [0, 75] : [0];
}

function hasStarted({ messageId, receivedAtMs }: ReceiptStory, { runs }: FaultRecord): boolean {
  return runs.some((run) => run.messageId === messageId && run.startedAtMs >= receivedAtMs);
}

function isDone(
  { runs, deadLetters }: Pick<FaultRecord, "runs" | "deadLetters">,
  messageId: string,
  byMs: number,
): boolean {
  return (
    runs.some((run) => run.messageId === messageId && isSuccessBy(run, byMs)) ||
    deadLetters.some((one) => one.sourceMessageId === messageId && one.sentAtMs <= byMs)
  );
}

function isSuccessBy(
  { result, endedAtMs = Number.POSITIVE_INFINITY }: FaultRecord["runs"][number],
  byMs: number,
): boolean {
  return result === "done" && endedAtMs <= byMs;
}

function nameOf({ messageId, receiveCount }: ReceiptStory): string {
  return `message ${messageId}, receive ${receiveCount}`;
}
