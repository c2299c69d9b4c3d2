/** Whether one lease kept its promises: its requests and events against what the server did. Pure. */

import {
  expiryAt,
  type FaultRecord,
  isLateArrival,
  isUnknown,
  type ReceiptStory,
} from "./fault-record.ts";

/** Every promise that the lease of this receipt broke, one sentence each. */
export function brokenByLease(story: ReceiptStory, record: FaultRecord): readonly string[] {
  return [
    silenceAfterTheEnd,
    noLateChange,
    leavesInTime,
    noGiveBackTwice,
    noBeliefBeyondTheServer,
    endsBeforeTheServerDoes,
    isVisibleWithinItsBound,
    lastWordIsLastDeed,
    survivesOneFault,
  ].flatMap((judge) => judge(story, record));
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
