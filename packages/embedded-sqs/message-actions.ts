/** The actions on messages: send, receive, change visibility, delete, one by one and in batches. */

import { checkBatch, workBatch } from "./batch.ts";
import { SqsError } from "./errors.ts";
import { md5OfAttributes, md5OfBody } from "./message-digest.ts";
import {
  checkAttributes,
  checkBody,
  checkId,
  checkSystemAttributes,
  MAX_MESSAGE_BYTES,
  messageBytes,
} from "./message-rules.ts";
import { required, secondsAsMs, storeAttributes, wholeNumber } from "./parameters.ts";
import type { Queue } from "./queue-model.ts";
import type { Queues } from "./queues.ts";
import { checkNames, renderMessage } from "./received-message.ts";
import type { RequestEntry } from "./request-log.ts";
import type {
  Batch,
  BatchResult,
  OnQueue,
  ReceiveFields,
  ReceiveResult,
  Seconds,
  SendFields,
  SendResult,
} from "./sqs-api.ts";

const MAX_DELAY_SECONDS = 900;
const MAX_VISIBILITY_SECONDS = 43_200;
const MAX_WAIT_SECONDS = 20;
const MAX_MESSAGES = 10;

/** What an action is given besides its input. */
export interface ActionContext {
  /** The account's queues. */
  readonly queues: Queues;
  /** Where the queue URLs of the answer begin. */
  readonly endpoint: string;
  /** Given when the server is to notice that the client has gone. */
  readonly hangUp?: AbortSignal | undefined;
  /** Notes for the request log what happened to one message. */
  note(entry: RequestEntry): void;
}

type HandleFields = { readonly ReceiptHandle?: string | undefined };
type VisibilityFields = HandleFields & { readonly VisibilityTimeout?: Seconds | undefined };

/** SendMessage. @throws SqsError */
export function sendMessage(input: OnQueue & SendFields, context: ActionContext): SendResult {
  return send(context.queues.at(input.QueueUrl), input, context);
}

/** SendMessageBatch. @throws SqsError when the batch as a whole is refused */
export function sendMessageBatch(
  input: Batch<SendFields>,
  context: ActionContext,
): BatchResult<SendResult> {
  const queue = context.queues.at(input.QueueUrl);
  const entries = checkBatch<SendFields>("SendMessageBatch", input.Entries);
  let bytes = 0;
  for (const { MessageBody = "", MessageAttributes } of entries) {
    bytes += messageBytes(MessageBody, storeAttributes(MessageAttributes));
  }
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new SqsError(
      "BatchRequestTooLong",
      `Batch requests cannot be longer than ${MAX_MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`,
    );
  }
  return workBatch(entries, (entry) => send(queue, entry, context));
}

/** ReceiveMessage; waits for a message as long as it is told to. @throws SqsError */
export function receiveMessage(
  input: OnQueue & ReceiveFields,
  context: ActionContext,
): ReceiveResult | Promise<ReceiveResult> {
  const { queues, hangUp } = context;
  const queue = queues.at(input.QueueUrl);
  const { settings, identity } = queue;
  checkNames(input);
  checkId("ReceiveRequestAttemptId", input.ReceiveRequestAttemptId);
  const wait = secondsAsMs("WaitTimeSeconds", input.WaitTimeSeconds, MAX_WAIT_SECONDS);
  const waitMs = wait ?? settings.receiveWaitMs;
  const maxMessages = wholeNumber(
    "MaxNumberOfMessages",
    input.MaxNumberOfMessages,
    1,
    MAX_MESSAGES,
  );
  const request = {
    maxMessages: maxMessages ?? 1,
    visibilityTimeoutMs: visibilityMs(input.VisibilityTimeout) ?? settings.visibilityTimeoutMs,
    claimedAtMs: queues.nowMs(),
    attemptId: identity.isFifo ? input.ReceiveRequestAttemptId : undefined,
  };
  if (waitMs === 0) refuseOverLimit(queue);
  return queues.receive(queue, { request, waitMs, hangUp }, ({ messages }) => {
    for (const { message, handle } of messages) {
      const { messageId, receiveCount } = message;
      context.note({ messageId, receiptHandle: handle, receiveCount, outcome: "received" });
    }
    if (messages.length === 0) return {};
    return {
      Messages: messages.map(({ message, handle }) => renderMessage(message, handle, input)),
    };
  });
}

/** ChangeMessageVisibility. @throws SqsError */
export function changeMessageVisibility(
  input: OnQueue & VisibilityFields,
  context: ActionContext,
): object {
  return changeVisibility(context.queues.at(input.QueueUrl), input, context);
}

/** ChangeMessageVisibilityBatch. @throws SqsError when the batch as a whole is refused */
export function changeMessageVisibilityBatch(
  input: Batch<VisibilityFields>,
  context: ActionContext,
): BatchResult<object> {
  const queue = context.queues.at(input.QueueUrl);
  const entries = checkBatch<VisibilityFields>("ChangeMessageVisibilityBatch", input.Entries);
  return workBatch(entries, (entry) => changeVisibility(queue, entry, context));
}

/** DeleteMessage. @throws SqsError */
export function deleteMessage(input: OnQueue & HandleFields, context: ActionContext): object {
  return deleteOne(context.queues.at(input.QueueUrl), input, context);
}

/** DeleteMessageBatch. @throws SqsError when the batch as a whole is refused */
export function deleteMessageBatch(
  input: Batch<HandleFields>,
  context: ActionContext,
): BatchResult<object> {
  const queue = context.queues.at(input.QueueUrl);
  const entries = checkBatch<HandleFields>("DeleteMessageBatch", input.Entries);
  return workBatch(entries, (entry) => deleteOne(queue, entry, context));
}

function send(queue: Queue, fields: SendFields, context: ActionContext): SendResult {
  return noting(context, {}, () => {
    const body = checkBody(fields.MessageBody);
    const attributes = storeAttributes(fields.MessageAttributes);
    const systemAttributes = storeAttributes(fields.MessageSystemAttributes);
    checkAttributes(attributes);
    checkSystemAttributes(systemAttributes);
    checkId("MessageGroupId", fields.MessageGroupId);
    checkId("MessageDeduplicationId", fields.MessageDeduplicationId);
    const delayMs = secondsAsMs("DelaySeconds", fields.DelaySeconds, MAX_DELAY_SECONDS);
    const traceHeader = systemAttributes["AWSTraceHeader"]?.text;
    const content = {
      body,
      attributes,
      ...(traceHeader === undefined ? {} : { traceHeader }),
      ...(fields.MessageGroupId === undefined ? {} : { groupId: fields.MessageGroupId }),
      ...(fields.MessageDeduplicationId === undefined
        ? {}
        : { deduplicationId: fields.MessageDeduplicationId }),
    };
    const { messageId, sequenceNumber } = queue.send(content, delayMs);
    context.note({ messageId, outcome: "sent" });
    const ofAttributes = md5OfAttributes(attributes);
    const ofSystemAttributes = md5OfAttributes(systemAttributes);
    return {
      MessageId: messageId,
      MD5OfMessageBody: md5OfBody(body),
      ...(ofAttributes === undefined ? {} : { MD5OfMessageAttributes: ofAttributes }),
      ...(ofSystemAttributes === undefined
        ? {}
        : { MD5OfMessageSystemAttributes: ofSystemAttributes }),
      ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
    };
  });
}

function changeVisibility(queue: Queue, fields: VisibilityFields, context: ActionContext): object {
  const { ReceiptHandle: receiptHandle, VisibilityTimeout: visibilityTimeoutSeconds } = fields;
  const about = { ...aboutHandle(receiptHandle), ...aboutSeconds(visibilityTimeoutSeconds) };
  return noting(context, about, () => {
    const handle = required("ReceiptHandle", receiptHandle);
    const timeoutMs = required("VisibilityTimeout", visibilityMs(visibilityTimeoutSeconds));
    const { messageId, took } = queue.changeVisibility(handle, timeoutMs);
    context.note({ ...about, messageId, outcome: took ? "changed" : "no-effect" });
    return {};
  });
}

function deleteOne(queue: Queue, fields: HandleFields, context: ActionContext): object {
  const about = aboutHandle(fields.ReceiptHandle);
  return noting(context, about, () => {
    const { messageId, took } = queue.delete(required("ReceiptHandle", fields.ReceiptHandle));
    context.note({ ...about, messageId, outcome: took ? "deleted" : "no-effect" });
    return {};
  });
}

/** Notes a refusal; what succeeds notes itself. */
function noting<T>(context: ActionContext, about: Partial<RequestEntry>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof SqsError) context.note({ ...about, outcome: error.queryCode });
    throw error;
  }
}

function aboutHandle(receiptHandle: string | undefined): { receiptHandle?: string } {
  return receiptHandle === undefined ? {} : { receiptHandle };
}

function aboutSeconds(seconds: number | undefined): { visibilityTimeoutSeconds?: number } {
  return seconds === undefined ? {} : { visibilityTimeoutSeconds: seconds };
}

function visibilityMs(seconds: number | undefined): number | undefined {
  return secondsAsMs("VisibilityTimeout", seconds, MAX_VISIBILITY_SECONDS);
}

/** @see SQS Developer Guide, "Message quotas": only standard queues say so, and only short polls */
function refuseOverLimit(queue: Queue): void {
  queue.settle();
  if (!queue.isAtInFlightLimit || queue.identity.isFifo) return;
  throw new SqsError(
    "OverLimit",
    "Too many messages in flight: the limit of this queue is reached.",
  );
}
