/** The quotas of SQS for what is sent, each once. */

/**
 * The largest message, body and attributes together, and the largest sum of a batch.
 * @see SQS Developer Guide, "Amazon SQS message quotas"
 */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** @see SQS API Reference, "SendMessageBatch" */
export const MAX_BATCH_ENTRIES = 10;

/** @see SQS API Reference, "SendMessage", DelaySeconds */
export const MAX_DELAY_MS = 900_000;

/**
 * Of one message; system attributes do not count.
 * @see SQS Developer Guide, "Amazon SQS message metadata"
 */
export const MAX_ATTRIBUTES = 10;
