/** A copy for the dead-letter queue: all that the message had, and the reason. Pure. */

import type { DeadLetterReason } from "./lease.ts";
import type { DeadLetterCopy, MessageAttribute, ReceivedMessage } from "./lease-queue.ts";
import { MAX_MESSAGE_ATTRIBUTES, MAX_MESSAGE_BYTES } from "./limits.ts";

/** Where the message comes from. */
export interface DeadLetterSource {
  readonly queueName: string;
  readonly fifo: boolean;
}

/**
 * The attributes that a copy has beyond those of its message. They replace what an earlier copy had
 * under the same names (a message that was redriven and failed again); that goes into `history`.
 */
export const DEAD_LETTER_ATTRIBUTES = {
  /** The stable word. */
  reason: "dead_letter_reason",
  /** One sentence. */
  detail: "dead_letter_detail",
  /** JSON: `queue`, `message_id`, `receive_count`, and `counts` when the reason has any. */
  source: "dead_letter_source",
  /** JSON: earlier reasons, oldest first. */
  history: "dead_letter_history",
} as const;

type Attributes = Readonly<Record<string, MessageAttribute>>;

interface Origin {
  readonly queue: string;
  readonly message_id: string;
  readonly receive_count: number;
  readonly counts?: DeadLetterReason["counts"];
}

interface PastReason {
  readonly reason: string;
  readonly source?: Origin;
}

const LONGEST_DETAIL_CHARACTERS = 512;
const LONGEST_HISTORY = 10;

/** What SQS refuses in a text, lone surrogates included. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const REFUSED_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** What goes first when the copy is too big or has too many attributes: the message itself never. */
const DROPPED_FIRST: readonly string[] = [
  DEAD_LETTER_ATTRIBUTES.history,
  "tracestate",
  DEAD_LETTER_ATTRIBUTES.detail,
  DEAD_LETTER_ATTRIBUTES.source,
  DEAD_LETTER_ATTRIBUTES.reason,
];

/**
 * The copy that goes to the dead-letter queue.
 *
 * It is as long and as rich as SQS allows: what does not fit is dropped in the order history,
 * `tracestate`, detail, source, reason. Body and identity of the message stay, so that it can be
 * redriven as it was.
 */
export function deadLetterCopy(
  message: ReceivedMessage,
  reason: DeadLetterReason,
  source: DeadLetterSource,
): DeadLetterCopy {
  const attributes = fitting(message.body, {
    ...message.attributes,
    ...marks(message, reason, source),
  });
  return {
    body: message.body,
    attributes,
    ...(message.groupId !== undefined && { groupId: message.groupId }),
    // Each receive is dead-lettered once; a message that was redriven must not be swallowed.
    ...(source.fifo && { deduplicationId: `${message.messageId}-${message.receiveCount}` }),
    ...(message.traceHeader !== undefined && { traceHeader: message.traceHeader }),
  };
}

function marks(
  message: ReceivedMessage,
  reason: DeadLetterReason,
  { queueName }: DeadLetterSource,
): Attributes {
  const names = DEAD_LETTER_ATTRIBUTES;
  const history = [...pastHistory(message.attributes), ...pastReason(message.attributes)];
  const origin: Origin = {
    queue: queueName,
    message_id: message.messageId,
    receive_count: message.receiveCount,
    ...(reason.counts !== undefined && { counts: reason.counts }),
  };
  return {
    [names.reason]: textAttribute(reason.code),
    [names.detail]: textAttribute(reason.detail.slice(0, LONGEST_DETAIL_CHARACTERS)),
    [names.source]: jsonAttribute(origin),
    ...(history.length > 0 && { [names.history]: jsonAttribute(history.slice(-LONGEST_HISTORY)) }),
  };
}

/** As many of the attributes as SQS takes, the least needed left out. */
function fitting(body: string, attributes: Attributes): Attributes {
  const bodyBytes = Buffer.byteLength(body);
  const kept = new Map(Object.entries(attributes));
  const fits = () => {
    const bytes = [...kept].reduce((sum, entry) => sum + attributeBytes(...entry), bodyBytes);
    return kept.size <= MAX_MESSAGE_ATTRIBUTES && bytes <= MAX_MESSAGE_BYTES;
  };
  for (const name of DROPPED_FIRST) {
    if (fits()) break;
    kept.delete(name);
  }
  return Object.fromEntries(kept);
}

/** SQS counts names, types and values. */
function attributeBytes(name: string, { dataType, value }: MessageAttribute): number {
  const valueBytes = typeof value === "string" ? Buffer.byteLength(value) : value.byteLength;
  return Buffer.byteLength(name) + Buffer.byteLength(dataType) + valueBytes;
}

function pastReason(attributes: Attributes): readonly PastReason[] {
  const [reason, source] = [DEAD_LETTER_ATTRIBUTES.reason, DEAD_LETTER_ATTRIBUTES.source].map(
    (name) => textOf(attributes[name]),
  );
  return readPast({ reason, source: readJson(source) });
}

function pastHistory(attributes: Attributes): readonly PastReason[] {
  const history = readJson(textOf(attributes[DEAD_LETTER_ATTRIBUTES.history]));
  return Array.isArray(history) ? history.slice(-LONGEST_HISTORY).flatMap(readPast) : [];
}

/**
 * Only what a copy of ours says. Anybody can write attributes under our names, and what nests a
 * hundred thousand levels deep can be read as JSON but not be written again.
 */
function readPast(value: unknown): readonly PastReason[] {
  const { reason, source } = fieldsOf(value);
  if (typeof reason !== "string") return [];
  const { queue, message_id, receive_count } = fieldsOf(source);
  const isOurs =
    typeof queue === "string" &&
    typeof message_id === "string" &&
    typeof receive_count === "number";
  const origin = isOurs && { source: { queue, message_id, receive_count } };
  return [{ reason: reason.slice(0, LONGEST_DETAIL_CHARACTERS), ...origin }];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Someone else's attribute under our name tells nothing.
  }
}

function textOf(attribute: MessageAttribute | undefined): string | undefined {
  return typeof attribute?.value === "string" ? attribute.value : undefined;
}

function textAttribute(text: string): MessageAttribute {
  // SQS refuses a value that is empty.
  return { dataType: "String", value: text.replace(REFUSED_CHARACTERS, "\ufffd") || "-" };
}

function jsonAttribute(value: unknown): MessageAttribute {
  const text = JSON.stringify(value).replace(REFUSED_CHARACTERS, "\ufffd");
  return { dataType: "String.json", value: text };
}
