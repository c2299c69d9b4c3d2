/** The numbers that AWS and Kubernetes set, each with its source; nobody may choose them. */

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** Longest time a message may stay received, counted from its receive. SQS, "visibility timeout". */
export const MAX_VISIBILITY_MS: number = 43_200 * SECOND;

/** Longest long poll. SQS ReceiveMessage, `WaitTimeSeconds`. */
export const MAX_WAIT_MS: number = 20 * SECOND;

/**
 * How much longer than its wait a receive request may take: connection, TLS and answer. Ours, not
 * AWS's: an answer that comes later finds a dead socket, and its messages hide for a whole lease.
 */
export const RECEIVE_REQUEST_EXTRA_MS: number = 5 * SECOND;

/** Shortest retention of a queue. SQS SetQueueAttributes, `MessageRetentionPeriod`. */
export const MIN_RETENTION_MS: number = 60 * SECOND;

/** Longest retention of a queue. SQS SetQueueAttributes, `MessageRetentionPeriod`. */
export const MAX_RETENTION_MS: number = 14 * DAY;

/** Largest `maxReceiveCount` of a redrive policy. SQS, "dead-letter queues". */
export const MAX_RECEIVE_COUNT = 1_000;

/** Messages of one queue that may be in flight, standard and FIFO. SQS, "quotas". */
export const MAX_IN_FLIGHT = 120_000;

/** Messages of one FIFO group that a worker holds at most: what one receive can bring. */
export const MAX_HELD_IN_GROUP = 10;

/** Entries of one SQS batch request. */
export const BATCH_ENTRIES = 10;

/** Largest message, attributes included. SQS, `MaximumMessageSize`. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** ECS `stopTimeout` on Fargate: shortest and longest. ECS, "ContainerDefinition". */
export const FARGATE_GRACE_MS: { readonly min: number; readonly max: number } = {
  min: 2 * SECOND,
  max: 120 * SECOND,
};

/** What is left of the two-minute Spot notice when the agent has noticed it. EC2, "Spot interruption notices". */
export const SPOT_GRACE_MS: number = 100 * SECOND;

/** Longest ECS task protection. ECS agent, `ExpiresInMinutes`. */
export const MAX_TASK_PROTECTION_MINUTES = 2_880;

/**
 * How long after both retentions a finished job is still remembered: an operator's redrive gives
 * a dead letter a new enqueue time. Ours; 14 d + 14 d + this are the 35 d of the default.
 */
export const DONE_SLACK_MS: number = 7 * DAY;
