/** A job's message as the event that Lambda would have made of it. */

import { createHash } from "node:crypto";
import type { JobContext, JobMessage } from "@leasehold/job";
import type { SqsEvent, SqsRecord, SqsRecordAttribute, SqsSystemAttributes } from "./lambda.ts";

/**
 * An event with this one message.
 *
 * Its receipt handle is empty: the lease is settled by whoever runs the job, and by nobody else.
 *
 * @param record - as Lambda itself brought it, if it did
 */
export function eventOf(context: JobContext, record?: SqsRecord): SqsEvent {
  return { Records: [{ ...(record ?? recordOf(context)), receiptHandle: "" }] };
}

function recordOf({ message, receiveCount }: JobContext): SqsRecord {
  const { messageId, body, attributes, queue } = message;
  return {
    ...{ messageId, receiptHandle: "", body },
    attributes: systemAttributes(message, receiveCount),
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, attribute]) => [name, attributeOf(attribute)]),
    ),
    md5OfBody: createHash("md5").update(body).digest("hex"),
    eventSource: "aws:sqs",
    // Neither region nor account are known to a lease.
    eventSourceARN: `arn:aws:sqs:::${queue}`,
    awsRegion: "",
  };
}

function systemAttributes(message: JobMessage, receiveCount: number): SqsSystemAttributes {
  const { sentAtMs, groupId, deduplicationId, sequenceNumber, traceHeader } = message;
  return {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: String(sentAtMs),
    ...(groupId !== undefined && { MessageGroupId: groupId }),
    ...(deduplicationId !== undefined && { MessageDeduplicationId: deduplicationId }),
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
    ...(traceHeader !== undefined && { AWSTraceHeader: traceHeader }),
  };
}

function attributeOf({ dataType, value }: JobMessage["attributes"][string]): SqsRecordAttribute {
  return typeof value === "string"
    ? { dataType, stringValue: value }
    : { dataType, binaryValue: Buffer.from(value).toString("base64") };
}
