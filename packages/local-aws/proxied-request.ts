/** A request that came by the fault proxy: what it asks for, and what became of it. Pure. */

import type { Fault } from "./fault-plan.ts";

/** One message of a request or of its answer. */
export interface ProxiedEntry {
  /** Of a batch. */
  readonly id?: string;
  readonly receiptHandle?: string;
  /** Asked for by ChangeMessageVisibility; 0 is a release. */
  readonly visibilityTimeoutSeconds?: number;
  /** Told by the answer to a receive or a send. */
  readonly messageId?: string;
  /** By the target's answer: `ok`, or the code of `Failed[]`. Absent while there is none. */
  readonly outcome?: string;
}

/**
 * Where a request is.
 *
 * `held`: the fault keeps it, before or after its effect. `forwarded`: with the target. `answering`:
 * its answer is on the way. `over`: nothing will happen to it any more.
 */
export type ProxyStage = "held" | "forwarded" | "answering" | "over";

/** A request, as far as it has come. Moments are Unix time by the proxy's clock. */
export interface ProxiedRequest {
  /** Counted from 1. */
  readonly requestNumber: number;
  /** `X-Amz-Target` without its prefix, or `Action` of a form, or else method and path. */
  readonly action: string;
  /** The name of the queue or the table; absent when it is about none, or several. */
  readonly resource: string | undefined;
  /** The how-manieth of its action since the plan was set. */
  readonly nth: number;
  readonly entries: readonly ProxiedEntry[];
  readonly fault: Fault | undefined;
  readonly stage: ProxyStage;
  readonly arrivedAtMs: number;
  /** It was sent to the target. */
  readonly forwardedAtMs?: number;
  /** The target has answered. */
  readonly answeredAtMs?: number;
  /** What the client was told, whoever said it. */
  readonly status?: number;
  /** The whole answer was handed to the client. */
  readonly repliedAtMs?: number;
  /** The client gave up, or its connection was reset, before that. */
  readonly clientGoneAtMs?: number;
}

/** What can be read of a request's head and body. */
export type RequestFacts = Pick<ProxiedRequest, "action" | "resource" | "entries">;

interface WireEntry {
  readonly Id?: unknown;
  readonly ReceiptHandle?: unknown;
  readonly VisibilityTimeout?: unknown;
}

interface WireAnswer {
  readonly MessageId?: unknown;
  readonly Messages?: unknown;
  readonly Successful?: unknown;
  readonly Failed?: unknown;
}

/** What a request's head says of it. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  /** `X-Amz-Target`, as in `AmazonSQS.SendMessage` and `DynamoDB_20120810.PutItem`. */
  readonly target: string | undefined;
}

/** What can be read of a request; a body that is no JSON has no entries. */
export function readProxied({ method, path, target }: RequestHead, body: Buffer): RequestFacts {
  const input = parse(body);
  const queueUrl = text(input["QueueUrl"]);
  const entries = Array.isArray(input["Entries"]) ? input["Entries"] : [input];
  return {
    action: target?.slice(target.lastIndexOf(".") + 1) ?? formAction(body) ?? `${method} ${path}`,
    resource: queueUrl?.slice(queueUrl.lastIndexOf("/") + 1) ?? text(input["TableName"]),
    entries: (entries as readonly WireEntry[]).map(entryOf).filter(isTelling),
  };
}

/** The entries with what the target's answer says of them. */
export function withAnswer(
  entries: readonly ProxiedEntry[],
  status: number,
  body: Buffer,
): readonly ProxiedEntry[] {
  const answer: WireAnswer = parse(body);
  if (status >= 300) return entries;
  if (Array.isArray(answer.Messages)) return answer.Messages.map(received);
  const messageId = text(answer.MessageId);
  if (messageId !== undefined) return [{ messageId, outcome: "ok" }];
  const outcomes = new Map([
    ...list(answer.Successful).map(({ Id }) => [Id, "ok"] as const),
    ...list(answer.Failed).map(({ Id, Code }) => [Id, text(Code) ?? "failed"] as const),
  ]);
  return entries.map((entry) => {
    const outcome = entry.id === undefined ? "ok" : outcomes.get(entry.id);
    return outcome === undefined ? entry : { ...entry, outcome };
  });
}

/** A batch without every other of its entries, from the first, and an answer for those. */
export function splitBatch(
  body: Buffer,
): { readonly passed: Buffer | undefined; readonly failed: readonly object[] } | undefined {
  const input = parse(body);
  if (!Array.isArray(input["Entries"])) return undefined;
  const entries = input["Entries"] as readonly WireEntry[];
  const passed = entries.filter((_entry, index) => index % 2 === 1);
  const failed = entries
    .filter((_entry, index) => index % 2 === 0)
    .map(({ Id }) => ({ Id, Code: "InternalError", Message: FAILED_ENTRY, SenderFault: false }));
  const rest = Buffer.from(JSON.stringify({ ...input, Entries: passed }));
  return { passed: passed.length === 0 ? undefined : rest, failed };
}

/** The target's answer to the rest of a batch, together with the entries that did not get there. */
export function joinBatch(body: Buffer | undefined, failed: readonly object[]): Buffer {
  const answer = body === undefined ? {} : parse(body);
  const Successful = list(answer["Successful"]);
  const Failed = [...failed, ...list(answer["Failed"])];
  return Buffer.from(JSON.stringify({ ...answer, Successful, Failed }));
}

/** Within which a form names its action: clients write it first. */
const FORM_BYTES = 1_024;

const FAILED_ENTRY = "We encountered an internal error. Please try again.";

/** Services that take forms, as SQS once did, name the action in them. */
function formAction(body: Buffer): string | undefined {
  return /(?:^|&)Action=(\w+)/.exec(body.toString("latin1", 0, FORM_BYTES))?.[1];
}

function entryOf({ Id, ReceiptHandle, VisibilityTimeout }: WireEntry): ProxiedEntry {
  const id = text(Id);
  const receiptHandle = text(ReceiptHandle);
  return {
    ...(id === undefined ? {} : { id }),
    ...(receiptHandle === undefined ? {} : { receiptHandle }),
    // A receive has a visibility timeout, too, for messages that are not known yet.
    ...(receiptHandle !== undefined && typeof VisibilityTimeout === "number"
      ? { visibilityTimeoutSeconds: VisibilityTimeout }
      : {}),
  };
}

function isTelling(entry: ProxiedEntry): boolean {
  return Object.keys(entry).length > 0;
}

function received(message: {
  readonly MessageId?: unknown;
  readonly ReceiptHandle?: unknown;
}): ProxiedEntry {
  return {
    messageId: String(message.MessageId),
    receiptHandle: String(message.ReceiptHandle),
    outcome: "ok",
  };
}

function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // Whatever speaks no JSON is passed on all the same.
  }
}

function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
