/** What one cell of the matrix wrote down, and how its records are joined: by message and receipt. */

import type { RequestAnswered, RequestEntry } from "@leasehold/embedded-sqs";
import type { ProxiedEntry, ProxiedRequest } from "@leasehold/local-aws";
import type { ShutdownReport, WorkerEvent } from "@leasehold/worker";

/** One event of the worker, and when it was heard. */
export interface HeardEvent {
  readonly atMs: number;
  /** The last request that had arrived at the proxy by then: time alone does not tell the order. */
  readonly afterRequest: number;
  readonly event: WorkerEvent;
}

/** One run of a handler, as the handler itself knows it. */
export interface HandlerRun {
  readonly messageId: string;
  readonly startedAtMs: number;
  endedAtMs?: number;
  /** How it ended: what the worker has to make of it follows from that alone. */
  result?: "done" | "failed" | "permanent" | "interrupted";
}

/** A message in the dead-letter queue. */
export interface DeadLetter {
  readonly sourceMessageId: string;
  readonly sentAtMs: number;
}

/** The end of the worker under trial. */
export interface WorkerExit {
  readonly atMs: number;
  readonly report: ShutdownReport;
}

/** All that is known of a cell when it is over. Moments are Unix time by the cell's clock. */
export interface FaultRecord {
  readonly visibilityTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly leaseMarginMs: number;
  /** Whether things went wrong more than once. */
  readonly isOutage: boolean;
  /** Ids of the messages that were sent. */
  readonly sent: readonly string[];
  /** Requests of the worker under trial, through the proxy. */
  readonly proxied: readonly ProxiedRequest[];
  /** Every request that reached the server, in its order. */
  readonly served: readonly RequestAnswered[];
  readonly events: readonly HeardEvent[];
  /** Of the worker under trial and of the one after it. */
  readonly runs: readonly HandlerRun[];
  readonly deadLetters: readonly DeadLetter[];
  readonly exit: WorkerExit;
  /** Messages that are left in the queue, in whatever state. */
  readonly left: number;
}

/** The events of a lease. */
export type LeaseEvent = Extract<WorkerEvent, { readonly kind: `lease.${string}`; lease: unknown }>;

/** An event that ends a lease. */
export type EndingEvent = Extract<LeaseEvent, { readonly kind: (typeof ENDINGS)[number] }>;

const ENDINGS = [
  "lease.acked",
  "lease.retried",
  "lease.released",
  "lease.dead-lettered",
  "lease.lost",
  "lease.lapsing",
] as const;

/** A change of visibility that took effect, or would have. */
export interface Change {
  readonly atMs: number;
  readonly visibilityMs: number;
  readonly outcome: string;
}

/** One receipt: what the server knows of it, and what the worker said of its lease. */
export interface ReceiptStory {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
  readonly receivedAtMs: number;
  readonly changes: readonly Change[];
  /** When the server deleted the message by this handle. */
  readonly deletedAtMs: number | undefined;
  readonly events: readonly (HeardEvent & { readonly event: LeaseEvent })[];
  readonly ending: (HeardEvent & { readonly event: EndingEvent }) | undefined;
  /** The worker's requests that name this handle, in their order. */
  readonly requests: readonly { readonly request: ProxiedRequest; readonly entry: ProxiedEntry }[];
}

/** Every receipt that the worker under trial could have got, joined over all records. */
export function receiptStories(record: FaultRecord): readonly ReceiptStory[] {
  const { served, exit } = record;
  const entries = served.flatMap((request) =>
    request.entries.map((entry) => ({ request, entry }) as const),
  );
  return entries
    .filter(({ request, entry }) => request.action === "ReceiveMessage" && entry.receiptHandle)
    .filter(({ request }) => request.startedAtMs <= exit.atMs)
    .map(({ request, entry }) => storyOf(entry, request.endedAtMs, entries, record));
}

/** When the server lets go of a receipt, as it stands at `atMs`. */
export function expiryAt(story: ReceiptStory, atMs: number, record: FaultRecord): number {
  return story.changes
    .filter((change) => change.atMs <= atMs && change.outcome === "changed")
    .reduce(
      (_expiry, change) => change.atMs + change.visibilityMs,
      story.receivedAtMs + record.visibilityTimeoutMs,
    );
}

/** Whether the worker cannot know what its request did. */
export function isUnknown({ status, repliedAtMs }: ProxiedRequest): boolean {
  return repliedAtMs === undefined || status === undefined || status >= 500;
}

/** How long after its client had given up a request may have arrived all the same. */
export function isLateArrival({ fault }: ProxiedRequest, callTimeoutMs: number): boolean {
  return fault?.kind === "latency" && fault.side === "before" && fault.delayMs > callTimeoutMs;
}

type ServedEntry = { readonly request: RequestAnswered; readonly entry: RequestEntry };

function storyOf(
  { messageId = "", receiptHandle = "", receiveCount = 0 }: RequestEntry,
  receivedAtMs: number,
  entries: readonly ServedEntry[],
  { events, proxied }: FaultRecord,
): ReceiptStory {
  const own = entries.filter(({ entry }) => entry.receiptHandle === receiptHandle);
  const heard = events.flatMap(({ event, ...when }) =>
    isLeaseEvent(event) &&
    event.lease.messageId === messageId &&
    event.lease.receiveCount === receiveCount
      ? [{ ...when, event }]
      : [],
  );
  return {
    ...{ messageId, receiptHandle, receiveCount, receivedAtMs },
    changes: own
      .filter(({ request }) => request.action.startsWith("ChangeMessageVisibility"))
      .map(({ request, entry }) => ({
        atMs: request.startedAtMs,
        visibilityMs: (entry.visibilityTimeoutSeconds ?? 0) * 1_000,
        outcome: entry.outcome,
      })),
    deletedAtMs: own.find(({ entry }) => entry.outcome === "deleted")?.request.startedAtMs,
    events: heard,
    ending: heard.find((one): one is HeardEvent & { event: EndingEvent } => isEnding(one.event)),
    requests: proxied.flatMap((request) =>
      request.entries
        .filter((entry) => entry.receiptHandle === receiptHandle)
        .filter(() => request.action !== "ReceiveMessage")
        .map((entry) => ({ request, entry })),
    ),
  };
}

function isLeaseEvent(event: WorkerEvent): event is LeaseEvent {
  return event.kind.startsWith("lease.") && "lease" in event;
}

/** A receipt that was held back for its twin never was a lease of its own. */
function isEnding(event: LeaseEvent): event is EndingEvent {
  const isHeldBack = event.kind === "lease.lapsing" && event.during === "held-back";
  return (ENDINGS as readonly string[]).includes(event.kind) && !isHeldBack;
}
