/** A message in SQS's words and in ours. Pure. */

import type { MessageAttribute, Receipt } from "./lease-queue.ts";

/** An attribute in SQS's words. */
interface SqsAttribute {
  readonly DataType: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: Uint8Array | undefined;
}

/** A message in SQS's words. */
export interface SqsMessage {
  readonly MessageId?: string | undefined;
  readonly ReceiptHandle?: string | undefined;
  readonly Body?: string | undefined;
  readonly Attributes?:
    | Readonly<Partial<Record<(typeof SYSTEM_ATTRIBUTES)[number], string | undefined>>>
    | undefined;
  readonly MessageAttributes?: Readonly<Record<string, SqsAttribute>> | undefined;
}

/** What a receive has to ask for, so that `receiptOf` finds it. */
export const SYSTEM_ATTRIBUTES = [
  "ApproximateReceiveCount",
  "SentTimestamp",
  "MessageGroupId",
  "MessageDeduplicationId",
  "SequenceNumber",
  "AWSTraceHeader",
] as const;

/** A message as SQS hands it out, or `undefined` when it has no handle and nothing can be done. */
export function receiptOf(message: SqsMessage): Receipt | undefined {
  const { MessageId, ReceiptHandle, Body = "", Attributes = {} } = message;
  if (MessageId === undefined || ReceiptHandle === undefined) return undefined;
  const optional = {
    groupId: Attributes.MessageGroupId,
    deduplicationId: Attributes.MessageDeduplicationId,
    sequenceNumber: Attributes.SequenceNumber,
    traceHeader: Attributes.AWSTraceHeader,
  };
  return {
    receiptHandle: ReceiptHandle,
    message: {
      messageId: MessageId,
      body: Body,
      attributes: attributesOf(message.MessageAttributes ?? {}),
      receiveCount: numberOf(Attributes.ApproximateReceiveCount, 1),
      sentAtMs: numberOf(Attributes.SentTimestamp, 0),
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    },
  };
}

/** Attributes as SQS wants them. */
export function sqsAttributes(
  attributes: Readonly<Record<string, MessageAttribute>>,
): Record<string, SqsAttribute> {
  const entries = Object.entries(attributes).map(([name, { dataType, value }]) => [
    name,
    typeof value === "string"
      ? { DataType: dataType, StringValue: value }
      : { DataType: dataType, BinaryValue: value },
  ]);
  return Object.fromEntries(entries);
}

function attributesOf(
  attributes: Readonly<Record<string, SqsAttribute>>,
): Readonly<Record<string, MessageAttribute>> {
  const entries = Object.entries(attributes).map(([name, attribute]) => [
    name,
    {
      dataType: attribute.DataType ?? "String",
      value: attribute.StringValue ?? attribute.BinaryValue ?? "",
    },
  ]);
  return Object.fromEntries(entries);
}

function numberOf(text: string | undefined, fallback: number): number {
  const number = Number(text);
  return text === undefined || Number.isNaN(number) ? fallback : number;
}
