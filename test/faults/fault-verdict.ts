/** Whether a cell of the matrix kept every promise: what its records say against each other. Pure. */

import {
  expiryAt,
  type FaultRecord,
  isLateArrival,
  isUnknown,
  type ReceiptStory,
  receiptStories,
} from "./fault-record.ts";

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
      [
        silenceAfterTheEnd,
        noLateChange,
        leavesInTime,
        noGiveBackTwice,
        noBeliefBeyondTheServer,
        endsBeforeTheServerDoes,
        isVisibleWithinItsBound,
        lastWordIsLastDeed,
        survivesOneFault,
      ].flatMap((judge) => judge(story, record).map((problem) => `${nameOf(story)}: ${problem}`)),
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
 * Nothing leaves for a lease that has ended. The one delete that a lost lease may have needs a record
 * that its job is done, and nobody keeps one here.
 */
function silenceAfterTheEnd({ ending, requests }: ReceiptStory): readonly string[] {
  if (ending === undefined) return [];
  return requests
    .filter(({ request }) => request.requestNumber > ending.afterRequest)
    .map(
      ({ request }) =>
        `${request.action} left ${request.arrivedAtMs - ending.atMs} ms after ${ending.event.kind}`,
    );
}

/** A change of visibility arrives while the server holds the receipt, the hard timeout later at most. */
function noLateChange(story: ReceiptStory, record: FaultRecord): readonly string[] {
  return story.changes.flatMap(({ atMs }) => {
    const lateMs = atMs - expiryAt(story, atMs - 1, record);
    const isDelayed = story.requests.some(({ request }) =>
      isLateArrival(request, record.callTimeoutMs),
    );
    const allowedMs = isDelayed ? record.callTimeoutMs : 0;
    return lateMs > allowedMs ? [`a change arrived ${lateMs} ms after the server's expiry`] : [];
  });
}

/** A change of visibility leaves only when its hard timeout still fits before the lease's end. */
function leavesInTime(story: ReceiptStory, record: FaultRecord): readonly string[] {
  return story.requests.filter(isChange).flatMap(({ request }) => {
    const endsAtMs = expiryAt(story, request.arrivedAtMs - 1, record) - record.leaseMarginMs;
    const missingMs = request.arrivedAtMs + record.callTimeoutMs - endsAtMs;
    return missingMs > 0 ? [`a change left ${missingMs} ms too late for its hard timeout`] : [];
  });
}

/** A release or a retry delay whose answer is unknown is the last change of its receipt. */
function noGiveBackTwice(story: ReceiptStory, record: FaultRecord): readonly string[] {
  const changes = story.requests.filter(isChange);
  return changes.flatMap((sent, index) => {
    if (!isGiveBack(sent, story, record) || !isUnknown(sent.request)) return [];
    return changes
      .slice(index + 1)
      .map(() => `a change followed a give-back of unknown outcome (${sent.request.fault?.kind})`);
  });
}

/** What the worker believes is left of a lease, and its margin, is no more than what is left. */
function noBeliefBeyondTheServer(story: ReceiptStory, record: FaultRecord): readonly string[] {
  return story.events.flatMap(({ atMs, event }) => {
    if (event.kind !== "lease.claimed" && event.kind !== "lease.extended") return [];
    const believedUntilMs = atMs + event.remainingMs + record.leaseMarginMs;
    const beyondMs = believedUntilMs - expiryAt(story, atMs, record);
    const isBelieved = event.remainingMs > 0 && beyondMs > 0;
    return isBelieved ? [`${event.kind} believed ${beyondMs} ms more than the server gave`] : [];
  });
}

/**
 * The worker lets go of a lease no later than the server does: by an ending, or by giving it back,
 * which counts from the moment at which it is sent.
 */
function endsBeforeTheServerDoes(story: ReceiptStory, record: FaultRecord): readonly string[] {
  const { ending, deletedAtMs, requests } = story;
  if (!story.events.some(({ event }) => event.kind === "lease.claimed")) return [];
  if (ending === undefined) return ["the lease was claimed and never ended"];
  const givenBack = requests.find((sent) => isChange(sent) && isGiveBack(sent, story, record));
  const letGoAtMs = givenBack?.request.arrivedAtMs ?? ending.atMs;
  const expiresAtMs = expiryAt(story, letGoAtMs - 1, record);
  const isOver = letGoAtMs > expiresAtMs && (deletedAtMs ?? Infinity) > expiresAtMs;
  return isOver ? [`let go ${letGoAtMs - expiresAtMs} ms after the server had`] : [];
}

/** What is said of when a message is visible again holds. */
function isVisibleWithinItsBound(story: ReceiptStory, record: FaultRecord): readonly string[] {
  const { ending, deletedAtMs, requests } = story;
  if (ending === undefined || deletedAtMs !== undefined) return [];
  // Nobody can foresee what arrives after its client has given up.
  if (requests.some(({ request }) => isLateArrival(request, record.callTimeoutMs))) return [];
  const { event, atMs } = ending;
  const bounds: Partial<Record<string, number>> = {
    "lease.lapsing": event.kind === "lease.lapsing" ? event.visibleInMs : 0,
    "lease.released": event.kind === "lease.released" ? event.delayMs : 0,
    "lease.retried": event.kind === "lease.retried" ? event.delayMs : 0,
  };
  const boundMs = bounds[event.kind];
  if (boundMs === undefined) return [];
  const beyondMs = expiryAt(story, Number.POSITIVE_INFINITY, record) - (atMs + boundMs);
  return beyondMs > 0 ? [`visible ${beyondMs} ms later than ${event.kind} said`] : [];
}

/** A release or a retry that was told is the last thing that the server did to the receipt. */
function lastWordIsLastDeed(story: ReceiptStory, record: FaultRecord): readonly string[] {
  const { ending, changes, requests } = story;
  if (ending === undefined) return [];
  const { event } = ending;
  if (event.kind !== "lease.released" && event.kind !== "lease.retried") return [];
  // Nobody can foresee what arrives after its client has given up.
  if (requests.some(({ request }) => isLateArrival(request, record.callTimeoutMs))) return [];
  const last = changes.findLast(({ outcome }) => outcome === "changed");
  if (last?.visibilityMs === event.delayMs) return [];
  return [`${event.kind} was told with ${event.delayMs} ms, the server has ${last?.visibilityMs}`];
}

/** One fault that passes costs no lease. */
function survivesOneFault({ ending }: ReceiptStory, { isOutage }: FaultRecord): readonly string[] {
  return !isOutage && ending?.event.kind === "lease.lost" ? ["one fault has cost the lease"] : [];
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

function isChange({ request }: ReceiptStory["requests"][number]): boolean {
  return request.action.startsWith("ChangeMessageVisibility");
}

/** An extension never reaches further than a visibility timeout, and none leaves after a failure. */
function isGiveBack(
  { request, entry }: ReceiptStory["requests"][number],
  { messageId, receivedAtMs }: ReceiptStory,
  { runs, visibilityTimeoutMs }: FaultRecord,
): boolean {
  const visibilityMs = (entry.visibilityTimeoutSeconds ?? 0) * 1_000;
  const hasFailed = runs.some(
    ({ messageId: ran, result, startedAtMs, endedAtMs = Number.POSITIVE_INFINITY }) =>
      ran === messageId &&
      (result === "failed" || result === "interrupted") &&
      startedAtMs >= receivedAtMs &&
      endedAtMs <= request.arrivedAtMs,
  );
  return visibilityMs === 0 || visibilityMs > visibilityTimeoutMs || hasFailed;
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
