/** A job as an SQS entry: attributes, fair-queue group, deduplication, delay, size. Pure. */

import { deduplicationId, type OutgoingJob, toSqsId, writeEnvelope } from "@leasehold/job";
import { JobTooLargeError, UnsendableJobError } from "./errors.ts";
import { MAX_DELAY_MS, MAX_MESSAGE_BYTES } from "./limits.ts";

/** One message as SQS is to get it; all attributes are strings. */
export interface MessageEntry {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
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
  const { body, attributes } = writeEnvelope(job);
  const bytes = messageBytes(body, attributes);
  if (bytes > MAX_MESSAGE_BYTES) throw new JobTooLargeError(job.jobId, bytes, MAX_MESSAGE_BYTES);
  return {
    body,
    attributes,
    groupId: toSqsId(delivery.orderingKey ?? job.tenantId),
    ...(delivery.fifo ? { deduplicationId: deduplicationId(job) } : {}),
    ...(delivery.delayMs > 0 ? { delaySeconds: Math.ceil(delivery.delayMs / 1_000) } : {}),
    bytes,
  };
}

function refuseImpossible({ fifo, delayMs, orderingKey }: Delivery): void {
  if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    throw new UnsendableJobError(
      `delayMs must be between 0 and ${MAX_DELAY_MS}, got ${delayMs}: for a longer delay let the ` +
        `handler throw RetryLaterError, or keep the due time in a store and send the job then`,
    );
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
  if (orderingKey === "") throw new UnsendableJobError("orderingKey must not be empty");
}

const STRING_TYPE_BYTES = "String".length;

function messageBytes(body: string, attributes: Readonly<Record<string, string>>): number {
  return Object.entries(attributes).reduce(
    (bytes, [name, value]) =>
      bytes + Buffer.byteLength(name) + STRING_TYPE_BYTES + Buffer.byteLength(value),
    Buffer.byteLength(body),
  );
}
