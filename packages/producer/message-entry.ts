/** A job as an SQS entry: attributes, fair-queue group, deduplication, delay, size. Pure. */

import { deduplicationId, type OutgoingJob, toSqsId, writeEnvelope } from "@leasehold/job";
import { JobTooLargeError, UnsendableJobError } from "./errors.ts";
import { checkAddedAttributes, isCarried } from "./job-attributes.ts";
import { MAX_DELAY_MS, MAX_MESSAGE_BYTES } from "./limits.ts";
import { xrayHeader } from "./trace-context.ts";

/** One message as SQS is to get it; all attributes are strings. */
export interface MessageEntry {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** A system attribute: counts neither among the ten nor among the bytes. */
  readonly awsTraceHeader?: string;
  /** Standard queue: the tenant, so that SQS serves tenants fairly. FIFO: whose order is kept. */
  readonly groupId: string;
  /** On FIFO queues only. */
  readonly deduplicationId?: string;
  /** Absent when the queue's own delay is to hold. */
  readonly delaySeconds?: number;
  /** As SQS counts: body, and name, type and value of each attribute, in UTF-8. */
  readonly bytes: number;
}

/** How a job is to be delivered. */
export interface Delivery {
  readonly fifo: boolean;
  /** 0 leaves it to the queue. Rounded up to the whole seconds that SQS knows. */
  readonly delayMs: number;
  /** On FIFO queues: jobs of the same key come in order. The tenant unless told otherwise. */
  readonly orderingKey?: string;
  /** Added to those that say which job it is. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Empty for none. @defaultValue the job's `traceparent` in the words of X-Ray */
  readonly awsTraceHeader?: string;
}

/**
 * The entry of a job.
 *
 * @throws UnsendableJobError when SQS has no such delivery
 * @throws JobTooLargeError when the message would be larger than SQS takes
 * @throws InvalidPayloadError when JSON cannot carry the payload
 */
export function writeEntry(job: OutgoingJob, delivery: Delivery): MessageEntry {
  refuseImpossible(delivery);
  const { body, attributes: own } = writeEnvelope(job);
  const attributes = { ...own, ...delivery.attributes };
  const awsTraceHeader = delivery.awsTraceHeader ?? xrayHeader(job.traceparent ?? "");
  const bytes = messageBytes(body, attributes);
  if (bytes > MAX_MESSAGE_BYTES) throw new JobTooLargeError(job.jobId, bytes, MAX_MESSAGE_BYTES);
  return {
    body,
    attributes,
    ...(awsTraceHeader ? { awsTraceHeader } : {}),
    groupId: toSqsId(delivery.orderingKey ?? job.tenantId),
    ...(delivery.fifo ? { deduplicationId: deduplicationId(job) } : {}),
    ...(delivery.delayMs > 0 ? { delaySeconds: Math.ceil(delivery.delayMs / 1_000) } : {}),
    bytes,
  };
}

function refuseImpossible(delivery: Delivery): void {
  const { fifo, delayMs, orderingKey, attributes = {}, awsTraceHeader = "" } = delivery;
  if (!(typeof delayMs === "number" && delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    throw new UnsendableJobError(
      `delayMs must be a number between 0 and ${MAX_DELAY_MS}, got ${String(delayMs)}: for a ` +
        `longer delay let the handler throw RetryLaterError, or keep the due time in a store and ` +
        `send the job then`,
    );
  }
  checkAddedAttributes(attributes);
  if (typeof awsTraceHeader !== "string" || !isCarried(awsTraceHeader)) {
    throw new UnsendableJobError("awsTraceHeader must be a text of characters that SQS takes");
  }
  if (fifo && delayMs > 0) {
    throw new UnsendableJobError(
      `delayMs must be 0 on a FIFO queue, got ${delayMs}: SQS delays only all of its messages ` +
        `alike, by the queue's own DelaySeconds`,
    );
  }
  if (!fifo && orderingKey !== undefined) {
    throw new UnsendableJobError("orderingKey needs a FIFO queue: a standard queue keeps no order");
  }
  if (orderingKey !== undefined && (typeof orderingKey !== "string" || orderingKey === "")) {
    const got = orderingKey === "" ? "an empty one" : `a ${typeof orderingKey}`;
    throw new UnsendableJobError(`orderingKey must be a text that is not empty, got ${got}`);
  }
}

const STRING_TYPE_BYTES = "String".length;

function messageBytes(body: string, attributes: Readonly<Record<string, string>>): number {
  return Object.entries(attributes).reduce(
    (bytes, [name, value]) =>
      bytes + Buffer.byteLength(name) + STRING_TYPE_BYTES + Buffer.byteLength(value),
    Buffer.byteLength(body),
  );
}
