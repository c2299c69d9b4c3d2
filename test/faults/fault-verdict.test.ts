import { beforeAll, describe, expect, test } from "vitest";
import { cellsOf, type FaultCell } from "./fault-cells.ts";
import { playCell } from "./fault-matrix.ts";
import { missingFaults } from "./fault-proof.ts";
import {
  expiryAt,
  type FaultRecord,
  type HeardEvent,
  type LeaseEvent,
  type ReceiptStory,
  receiptStories,
} from "./fault-record.ts";
import { brokenPromises } from "./fault-verdict.ts";

/** A cell with every kind of ending in it: done, copied, retried, released, left to run out. */
const played = "ChangeMessageVisibilityBatch that retries, first: a lost reply";

let cell: FaultCell;
let record: FaultRecord;
let faulted: Awaited<ReturnType<typeof playCell>>["faulted"];
beforeAll(async () => {
  cell = cellsOf("draining", false).find(([name]) => name === played)?.[1] ?? expect.fail(played);
  ({ record, faulted } = await playCell(cell));
});

/** The story of the first lease that ended so. */
function storyOf(kind: LeaseEvent["kind"]): ReceiptStory & { ending: HeardEvent } {
  for (const story of receiptStories(record)) {
    const { ending } = story;
    if (ending?.event.kind === kind) return { ...story, ending };
  }
  return expect.fail(`no lease has ended as ${kind}`);
}

/** The record with other events of one kind and message. */
function withEvents(
  { messageId }: { readonly messageId: string },
  kind: LeaseEvent["kind"],
  change: (event: LeaseEvent) => readonly object[],
): FaultRecord {
  const events = record.events.flatMap((heard) => {
    const { event } = heard;
    if (event.kind !== kind || !("lease" in event) || event.lease.messageId !== messageId) {
      return [heard];
    }
    return change(event as LeaseEvent).map((other) => ({ ...heard, event: other }) as HeardEvent);
  });
  return { ...record, events };
}

/** The record with another run of the job. */
function withRun({ messageId }: ReceiptStory, startedAtMs: number, endedAtMs: number): FaultRecord {
  const run = { messageId, startedAtMs, endedAtMs, result: "done" } as const;
  return { ...record, runs: [...record.runs, run] };
}

/** The record with the first request for this lease sent again, at `atMs`. */
function withRequest(action: string, { requests }: ReceiptStory, atMs: number): FaultRecord {
  const [first] = requests.filter(({ request }) => request.action === action);
  if (first === undefined) return expect.fail(`no ${action} for this lease`);
  const numbers = record.proxied.map(({ requestNumber }) => requestNumber);
  const requestNumber = Math.max(...numbers) + 1;
  const again = { ...first.request, fault: undefined, requestNumber, arrivedAtMs: atMs };
  return { ...record, proxied: [...record.proxied, again] };
}

/** The record with other answers of the server for one message. */
function withServed(
  { messageId }: { readonly messageId: string },
  outcome: string,
  change: (request: FaultRecord["served"][number]) => FaultRecord["served"][number],
): FaultRecord {
  const served = record.served.map((request) => {
    const isMeant = request.entries.some(
      (entry) => entry.messageId === messageId && entry.outcome === outcome,
    );
    return isMeant ? change(request) : request;
  });
  return { ...record, served };
}

const CHANGE = "ChangeMessageVisibilityBatch";

describe("the verdict", () => {
  test("has nothing to say against the record as it is", () => {
    expect(brokenPromises(record)).toEqual([]);
    expect(missingFaults(cell, faulted)).toEqual([]);
  });

  test.each<[string, () => FaultRecord, string]>([
    [
      "a message that nobody deleted",
      () => withServed(storyOf("lease.acked"), "deleted", (one) => ({ ...one, entries: [] })),
      "never ended",
    ],
    ["a message that is left", () => ({ ...record, left: 1 }), "1 messages are left in the queue"],
    [
      "a delete of what was not done",
      () => {
        const { messageId } = storyOf("lease.acked");
        return { ...record, runs: record.runs.filter((run) => run.messageId !== messageId) };
      },
      "a delete left before the job was done",
    ],
    [
      "a delete of what was not copied",
      () => ({ ...record, deadLetters: [] }),
      "was deleted, neither done nor copied to the dead-letter queue",
    ],
    [
      "an ack that is told before the message is gone",
      () =>
        withServed(storyOf("lease.acked"), "deleted", (one) => ({
          ...one,
          startedAtMs: one.startedAtMs + 1,
        })),
      "lease.acked was told, and the message is still there",
    ],
    [
      "a copy without cause",
      () => {
        const { messageId: sourceMessageId, ending } = storyOf("lease.acked");
        const copy = { sourceMessageId, sentAtMs: ending.atMs };
        return { ...record, deadLetters: [...record.deadLetters, copy] };
      },
      "was dead-lettered without cause",
    ],
    [
      "a job that is done twice",
      () => {
        const story = storyOf("lease.acked");
        return withRun(story, story.ending.atMs + 1, story.ending.atMs + 2);
      },
      "was done twice after one fault",
    ],
    [
      "two runs at a time",
      () => {
        const story = storyOf("lease.acked");
        return withRun(story, story.ending.atMs - 1, story.ending.atMs);
      },
      "had two runs at a time",
    ],
    [
      "a poll that is cut off",
      () => {
        const proxied = record.proxied.map((request) =>
          request.action === "ReceiveMessage"
            ? { ...request, clientGoneAtMs: request.arrivedAtMs }
            : request,
        );
        return { ...record, proxied };
      },
      "was cut off",
    ],
    [
      "a request after the end, even in the same millisecond",
      () => {
        const story = storyOf("lease.acked");
        return withRequest("DeleteMessageBatch", story, story.ending.atMs);
      },
      "DeleteMessageBatch left 0 ms after lease.acked",
    ],
    [
      "a change that arrives after the server's expiry",
      () => {
        const { messageId, receiptHandle } = storyOf("lease.lapsing");
        const startedAtMs = record.exit.atMs + 60_000;
        const entry = { messageId, receiptHandle, outcome: "changed", visibilityTimeoutSeconds: 5 };
        const like = record.served.find(({ action }) => action === CHANGE) ?? expect.fail(CHANGE);
        const late = { ...like, startedAtMs, entries: [entry] };
        return { ...record, served: [...record.served, late] };
      },
      "ms after the server's expiry",
    ],
    [
      "a change that leaves when its hard timeout no longer fits",
      () => {
        const story = storyOf("lease.lapsing");
        const [first] = story.requests.filter(({ request }) => request.action === CHANGE);
        const expiresAtMs = expiryAt(story, first?.request.arrivedAtMs ?? 0, record);
        return withRequest(CHANGE, story, expiresAtMs - record.leaseMarginMs - 999);
      },
      "a change left 1 ms too late for its hard timeout",
    ],
    [
      "a retry delay repeated after an unknown answer",
      () => {
        const story = storyOf("lease.lapsing");
        return withRequest(CHANGE, story, story.ending.atMs - 1);
      },
      "a change followed a give-back of unknown outcome (lost-reply)",
    ],
    [
      "a lease that is believed to hold longer than the server holds it",
      () =>
        withEvents(storyOf("lease.acked"), "lease.claimed", (event) => [
          { ...event, remainingMs: "remainingMs" in event ? event.remainingMs + 1 : 0 },
        ]),
      "lease.claimed believed 1 ms more than the server gave",
    ],
    [
      "a lease that never ends",
      () => withEvents(storyOf("lease.acked"), "lease.acked", () => []),
      "the lease was claimed and never ended",
    ],
    [
      "a lease that ends after the server has let go",
      () => {
        const { messageId } = storyOf("lease.lapsing");
        const proxied = record.proxied.filter(({ action }) => action !== CHANGE);
        const lapsed = withEvents({ messageId }, "lease.lapsing", (event) => [event]);
        const events = lapsed.events.map((heard) =>
          heard.event.kind === "lease.lapsing" ? { ...heard, atMs: heard.atMs + 60_000 } : heard,
        );
        return { ...record, proxied, events };
      },
      "ms after the server had",
    ],
    [
      "a message that hides longer than was told",
      () =>
        withEvents(storyOf("lease.lapsing"), "lease.lapsing", (event) => [
          { ...event, visibleInMs: 0 },
        ]),
      "later than lease.lapsing said",
    ],
    [
      "a release with another delay than was told",
      () =>
        withEvents(storyOf("lease.released"), "lease.released", (event) => [
          { ...event, delayMs: 5_000 },
        ]),
      "lease.released was told with 5000 ms, the server has 0",
    ],
    [
      "a lease that one fault has cost",
      () =>
        withEvents(storyOf("lease.released"), "lease.released", ({ lease }) => [
          { kind: "lease.lost", lease, cause: "expired", during: "running" },
        ]),
      "one fault has cost the lease",
    ],
    [
      "a wrong exit code",
      () => ({
        ...record,
        exit: { ...record.exit, report: { ...record.exit.report, exitCode: 0 } },
      }),
      "the exit code is 0, expected 74",
    ],
    [
      "a message that hides after the exit, untold",
      () => {
        const { ending } = storyOf("lease.lapsing");
        const report = { ...record.exit.report, unfinished: [] };
        return { ...record, exit: { atMs: ending.atMs + 1, report } };
      },
      "hides after the exit, and nobody was told",
    ],
  ])("finds %s", (_what, tampered, problem) => {
    expect(brokenPromises(tampered()).join("; ")).toContain(problem);
  });

  test("finds a cell whose fault never came out", () => {
    const passed = faulted.map((request) => ({ ...request, status: 200 }));

    expect(missingFaults(cell, [])).toEqual(["no request has suffered from the fault"]);
    expect(missingFaults(cell, passed)).toEqual(["no request has suffered from the fault"]);
    expect(missingFaults({ mustSuffer: [CHANGE, "SendMessage"] }, faulted)).toEqual([
      "no SendMessage has suffered from the fault",
    ]);
  });
});
