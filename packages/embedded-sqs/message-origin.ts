/** How a message comes to be: sent, copied to a dead-letter queue, brought back from it. Pure. */

import { createHash } from "node:crypto";
import { invalidParameter, missingParameter, SqsError } from "./errors.ts";
import { checkSize, messageBytes } from "./message-rules.ts";
import type { QueueSettings } from "./queue-attributes.ts";
import type { MessageContent, StoredMessage } from "./stored-message.ts";

/** What a new message is made of besides its content. */
export interface Birth {
  readonly messageId: string;
  readonly order: number;
  readonly senderId: string;
  readonly isFifo: boolean;
  readonly nowMs: number;
  readonly delayMs: number;
}

/** SQS's sequence numbers have twenty digits and leave gaps; only that they grow is promised. */
const FIRST_SEQUENCE_NUMBER = 18_000_000_000_000_000_000n;
const SEQUENCE_STEP = 256n;

/**
 * The content as this queue keeps it, with the deduplication id that it derives.
 * @throws SqsError when the queue does not take such a message
 */
export function acceptContent(
  content: MessageContent,
  delayMs: number | undefined,
  isFifo: boolean,
  settings: QueueSettings,
): MessageContent {
  const foreign = "The request include parameter that is not valid for this queue type.";
  checkSize(messageBytes(content.body, content.attributes), settings.maximumMessageBytes);
  if (!isFifo) {
    if (content.deduplicationId === undefined) return content;
    throw invalidParameter("MessageDeduplicationId", content.deduplicationId, foreign);
  }
  if (content.groupId === undefined) throw missingParameter("MessageGroupId");
  if (delayMs !== undefined && delayMs > 0) {
    throw invalidParameter("DelaySeconds", delayMs / 1000, foreign);
  }
  if (content.deduplicationId !== undefined) return content;
  if (!settings.hasContentBasedDeduplication) {
    throw new SqsError(
      "InvalidParameterValue",
      "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
    );
  }
  const deduplicationId = createHash("sha256").update(content.body).digest("hex");
  return { ...content, deduplicationId };
}

/** A message that was just sent. */
export function newMessage(content: MessageContent, birth: Birth): StoredMessage {
  const { messageId, order, senderId, isFifo, nowMs, delayMs } = birth;
  const sequence = FIRST_SEQUENCE_NUMBER + BigInt(order) * SEQUENCE_STEP;
  return {
    messageId,
    content,
    senderId,
    sentAtMs: nowMs,
    order,
    ...(isFifo ? { sequenceNumber: String(sequence) } : {}),
    state: delayMs > 0 ? "delayed" : "visible",
    visibleAtMs: nowMs + delayMs,
    receiveCount: 0,
    receivesHere: 0,
    receipt: 0,
  };
}

/**
 * The message in its dead-letter queue: same id and receive count. Retention goes on from the first
 * send on a standard queue and starts anew on a FIFO queue.
 */
export function deadLetterCopy(
  message: StoredMessage,
  move: {
    readonly order: number;
    readonly nowMs: number;
    readonly source: { readonly arn: string; readonly isFifo: boolean };
  },
): StoredMessage {
  return {
    ...message,
    sentAtMs: move.source.isFifo ? move.nowMs : message.sentAtMs,
    order: move.order,
    deadLetterSourceArn: move.source.arn,
    receivesHere: 0,
    state: "visible",
    visibleAtMs: move.nowMs,
  };
}

/** A message that a move task brings to `isFifo` queue: a new one with the old content. */
export function redrivenCopy(message: StoredMessage, birth: Omit<Birth, "delayMs">): StoredMessage {
  return newMessage(message.content, { ...birth, senderId: message.senderId, delayMs: 0 });
}
