/** Reads what Lambda brought: one batch of one queue, or an error that says what it is instead. */

import { type Receipt, receiptOf } from "@leasehold/lease";
import { InvalidSqsEventError } from "./errors.ts";
import type { SqsRecord, SqsRecordAttribute } from "./lambda.ts";

/** One message of a batch. */
export interface BatchItem {
  readonly receipt: Receipt;
  /** When SQS handed the message out for the first time, Unix time by its clock; absent when it did not say. */
  readonly firstReceivedAtMs?: number;
}

/** The messages of one queue. */
export interface Batch {
  /** The last part of the queue's ARN; empty for a batch without messages. */
  readonly queueName: string;
  /** In the order in which they came; one that came twice stands once, with its newest handle. */
  readonly items: readonly BatchItem[];
}

/**
 * The batch of an event.
 *
 * A body that a middleware before us has parsed already, as `@middy/event-normalizer` does, is
 * written as JSON again.
 *
 * @throws InvalidSqsEventError when no message could be reported by its id
 */
export function readBatch(event: unknown): Batch {
  const records = (event as { readonly Records?: unknown } | null | undefined)?.Records;
  if (!Array.isArray(records)) {
    throw new InvalidSqsEventError(
      `the event must have a list of Records, got ${kindOf(event)}: map this function to an SQS queue`,
    );
  }
  const queueName = queueOf(records);
  const items = new Map<string, BatchItem>();
  for (const [index, record] of (records as readonly SqsRecord[]).entries()) {
    const item = readRecord(record, index);
    items.set(item.receipt.message.messageId, item);
  }
  return { queueName, items: [...items.values()] };
}

function queueOf(records: readonly unknown[]): string {
  const sources = new Set(
    records.map((record) => {
      const { eventSource, eventSourceARN }: Partial<SqsRecord> = Object(record);
      if (eventSource === "aws:sqs" && typeof eventSourceARN === "string") return eventSourceARN;
      const shown = typeof eventSource === "string" ? eventSource : kindOf(eventSource);
      throw new InvalidSqsEventError(
        `every record must have the eventSource aws:sqs, got ${shown}: give other sources a function ` +
          "of their own",
      );
    }),
  );
  if (sources.size > 1) {
    throw new InvalidSqsEventError(`a batch must be of one queue, got ${sources.size}`);
  }
  const [arn = ""] = sources;
  return arn.slice(arn.lastIndexOf(":") + 1);
}

function readRecord(record: SqsRecord, index: number): BatchItem {
  const { messageId, receiptHandle, attributes, messageAttributes } = record;
  const receipt = receiptOf({
    MessageId: idOf("messageId", messageId, index),
    ReceiptHandle: idOf("receiptHandle", receiptHandle, index),
    Body: textOf(record.body),
    Attributes: attributes ?? {},
    MessageAttributes: Object.fromEntries(
      Object.entries(messageAttributes ?? {}).map(([name, value]) => [name, attributeOf(value)]),
    ),
  });
  const firstReceivedAtMs = Number(attributes?.ApproximateFirstReceiveTimestamp);
  return {
    receipt: receipt as Receipt,
    ...(firstReceivedAtMs > 0 && { firstReceivedAtMs }),
  };
}

function idOf(field: string, value: unknown, index: number): string {
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidSqsEventError(`Records[${index}].${field} must be a text, got ${kindOf(value)}`);
}

function textOf(body: unknown): string {
  return typeof body === "string" ? body : (JSON.stringify(body) ?? "");
}

function attributeOf({ dataType, stringValue, binaryValue }: SqsRecordAttribute) {
  return {
    DataType: dataType,
    StringValue: stringValue,
    ...(binaryValue !== undefined && {
      BinaryValue: new Uint8Array(Buffer.from(binaryValue, "base64")),
    }),
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value;
}
