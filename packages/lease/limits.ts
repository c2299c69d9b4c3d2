/** The quotas of SQS, each with its source. */

/**
 * The longest that one receipt may stay invisible, counted from the receive; extensions do not
 * reset it, and asking for more than is left is refused, not clamped.
 * @see SQS Developer Guide, "Amazon SQS visibility timeout"
 */
export const MAX_HOLD_MS = 43_200_000;

/** @see SQS API Reference, ChangeMessageVisibilityBatch, DeleteMessageBatch, ReceiveMessage */
export const MAX_BATCH_ENTRIES = 10;

/** Messages of one FIFO group that are held at most: what one receive can bring. */
export const MAX_HELD_OF_GROUP = 10;

/**
 * How long SQS remembers a receive by its attempt id.
 * @see SQS API Reference, ReceiveMessage, "ReceiveRequestAttemptId"
 */
export const ATTEMPT_INTERVAL_MS = 300_000;

/**
 * Body and attributes of one message together.
 * @see SQS Developer Guide, "Amazon SQS message quotas"
 */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** @see SQS Developer Guide, "Amazon SQS message quotas" */
export const MAX_MESSAGE_ATTRIBUTES = 10;

/** SQS counts visibility and waiting in whole seconds. */
export const SECOND_MS = 1_000;
