/** A stored message as ReceiveMessage shows it: only the attributes that were asked for. Pure. */

import { SqsError } from "./errors.ts";
import { md5OfAttributes, md5OfBody } from "./message-digest.ts";
import type { MessageAttribute, ReceivedMessage, ReceiveFields } from "./sqs-api.ts";
import type { StoredAttribute, StoredMessage } from "./stored-message.ts";

const SYSTEM_ATTRIBUTES: Readonly<Record<string, (message: StoredMessage) => string | undefined>> =
  {
    SenderId: (message) => message.senderId,
    SentTimestamp: (message) => epochMs(message.sentAtMs),
    ApproximateReceiveCount: (message) => String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: (message) => epochMs(message.firstReceivedAtMs),
    SequenceNumber: (message) => message.sequenceNumber,
    MessageDeduplicationId: (message) => message.content.deduplicationId,
    MessageGroupId: (message) => message.content.groupId,
    AWSTraceHeader: (message) => message.content.traceHeader,
    DeadLetterQueueSourceArn: (message) => message.deadLetterSourceArn,
  };

/** @throws SqsError InvalidAttributeName when a system attribute is asked for that does not exist */
export function checkNames(fields: ReceiveFields): void {
  for (const name of systemNames(fields)) {
    if (name === "All" || Object.hasOwn(SYSTEM_ATTRIBUTES, name)) continue;
    throw new SqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
  }
}

/** The message as the receive with `fields` gets it. */
export function renderMessage(
  message: StoredMessage,
  handle: string,
  fields: ReceiveFields,
): ReceivedMessage {
  const { messageId, content } = message;
  const system = systemAttributes(message, systemNames(fields));
  const attributes = wanted(content.attributes, fields.MessageAttributeNames ?? []);
  const md5 = md5OfAttributes(attributes);
  return {
    MessageId: messageId,
    ReceiptHandle: handle,
    MD5OfBody: md5OfBody(content.body),
    Body: content.body,
    ...(Object.keys(system).length === 0 ? {} : { Attributes: system }),
    ...(md5 === undefined
      ? {}
      : { MD5OfMessageAttributes: md5, MessageAttributes: renderAttributes(attributes) }),
  };
}

function systemNames(fields: ReceiveFields): readonly string[] {
  return [...(fields.MessageSystemAttributeNames ?? []), ...(fields.AttributeNames ?? [])];
}

function systemAttributes(
  message: StoredMessage,
  names: readonly string[],
): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const name of names.includes("All") ? Object.keys(SYSTEM_ATTRIBUTES) : names) {
    const value = SYSTEM_ATTRIBUTES[name]?.(message);
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}

/** Names are exact, or a prefix followed by `.*`; `All` and `.*` are everything. */
function wanted(
  attributes: Readonly<Record<string, StoredAttribute>>,
  names: readonly string[],
): Record<string, StoredAttribute> {
  const isWanted = (attribute: string) =>
    names.some(
      (name) =>
        name === "All" ||
        name === attribute ||
        (name.endsWith(".*") && attribute.startsWith(name.slice(0, -2))),
    );
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isWanted(name)));
}

function renderAttributes(
  attributes: Readonly<Record<string, StoredAttribute>>,
): Record<string, MessageAttribute> {
  const render = ({ dataType, text, base64 }: StoredAttribute) => ({
    DataType: dataType,
    ...(text === undefined ? {} : { StringValue: text }),
    ...(base64 === undefined ? {} : { BinaryValue: new Uint8Array(Buffer.from(base64, "base64")) }),
  });
  return Object.fromEntries(Object.entries(attributes).map(([name, each]) => [name, render(each)]));
}

function epochMs(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : String(Math.floor(atMs));
}
