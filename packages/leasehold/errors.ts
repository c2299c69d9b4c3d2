/** Why a service cannot work yet. */

/** A queue that could not be looked up by its name; it may be created, or come into reach, later. */
export class QueueLookUpError extends Error {
  override readonly name = "QueueLookUpError";
  readonly code = "QUEUE_LOOK_UP";
  readonly queueName: string;
  /** SQS's own word for it, for example `QueueDoesNotExist`. */
  readonly reason: string;

  constructor(queueName: string, reason: string, detail: string, options?: ErrorOptions) {
    super(`queue ${queueName} ${detail}`, options);
    this.queueName = queueName;
    this.reason = reason;
  }
}
