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

/** The job ledger's table could not be read; it may be created, or come into reach, later. */
export class LedgerTableError extends Error {
  override readonly name = "LedgerTableError";
  readonly code = "LEDGER_TABLE";
  readonly tableName: string;
  /** DynamoDB's own word for it, for example `ResourceNotFoundException`. */
  readonly reason: string;

  constructor(tableName: string, reason: string, options?: ErrorOptions) {
    super(
      `the ledger's table ${tableName} could not be read (${reason}): create it from the contract, or ` +
        "check region, endpoint, credentials and the permissions dynamodb:GetItem, " +
        "dynamodb:PutItem and dynamodb:UpdateItem",
      options,
    );
    this.tableName = tableName;
    this.reason = reason;
  }
}
