/** What the queue and its dead-letter queue derive. */

import type { DeploymentContract, QueueContract } from "./deployment-contract.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";

/** Attributes as `CreateQueue` takes them: every value a string, durations in seconds. */
export type QueueAttributes = Readonly<Record<string, string>>;

/** One queue as SQS wants it. */
export interface QueueResource {
  readonly name: string;
  readonly fifo: boolean;
  readonly attributes: QueueAttributes;
}

/** A queue and where its dead letters go, frozen. */
export interface QueueSettings {
  /** Its `RedrivePolicy` is missing here, because it needs an ARN: see `redrivePolicy`. */
  readonly queue: QueueResource;
  readonly deadLetter: QueueResource;
  readonly maxReceiveCount: number;
}

/**
 * What SQS is to be told about one queue of the contract.
 *
 * Fair queues need no attribute: the producer's MessageGroupId makes a standard queue fair.
 *
 * @throws RangeError when the contract has no queue of that name
 */
export function queueSettings(contract: DeploymentContract, queueName: string): QueueSettings {
  const queue = contract.queues.find(({ name }) => name === queueName);
  if (queue === undefined) {
    const known = contract.queues.map(({ name }) => name).join(", ");
    throw new RangeError(
      `the contract of ${contract.service} has no queue ${queueName}, only ${known}`,
    );
  }
  const { deadLetter } = queue;
  return Object.freeze({
    queue: resource(queue.name, queue, queue.retentionMs, contract),
    deadLetter: resource(deadLetter.name, queue, deadLetter.retentionMs, contract),
    maxReceiveCount: queue.maxReceiveCount,
  });
}

/** The value of the source queue's attribute `RedrivePolicy`. */
export function redrivePolicy(settings: QueueSettings, deadLetterArn: string): string {
  const { maxReceiveCount } = settings;
  return JSON.stringify({ deadLetterTargetArn: deadLetterArn, maxReceiveCount });
}

function resource(
  name: string,
  { fifo, waitMs }: QueueContract,
  retentionMs: number,
  { lease }: DeploymentContract,
): QueueResource {
  const attributes = {
    VisibilityTimeout: wholeSeconds(lease.visibilityTimeoutMs),
    MessageRetentionPeriod: wholeSeconds(retentionMs),
    ReceiveMessageWaitTimeSeconds: wholeSeconds(waitMs),
    MaximumMessageSize: String(MAX_MESSAGE_BYTES),
    ...(fifo ? FIFO_ATTRIBUTES : {}),
  };
  return Object.freeze({ name, fifo, attributes: Object.freeze(attributes) });
}

/**
 * Only on FIFO queues: SQS refuses even `FifoQueue: "false"` on a standard one. Deduplication is by
 * the producer's id, never by content, since two jobs may have equal bodies in all but their
 * moment; limits are per group, or 300 calls a second would bound the whole queue.
 */
const FIFO_ATTRIBUTES: QueueAttributes = {
  FifoQueue: "true",
  ContentBasedDeduplication: "false",
  DeduplicationScope: "messageGroup",
  FifoThroughputLimit: "perMessageGroupId",
};

function wholeSeconds(durationMs: number): string {
  return String(Math.ceil(durationMs / 1_000));
}
