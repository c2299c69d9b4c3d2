/** How SQS refuses, by name, code and status; and what is wrong with a folder that cannot be read. */

/** Where the code of the old query protocol or the status differs from "the name" and 400. */
const SPECIAL: Readonly<Record<string, { readonly queryCode?: string; readonly status?: number }>> =
  {
    BatchEntryIdsNotDistinct: { queryCode: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct" },
    BatchRequestTooLong: { queryCode: "AWS.SimpleQueueService.BatchRequestTooLong" },
    EmptyBatchRequest: { queryCode: "AWS.SimpleQueueService.EmptyBatchRequest" },
    InternalFailure: { status: 500 },
    InvalidAddress: { status: 404 },
    InvalidBatchEntryId: { queryCode: "AWS.SimpleQueueService.InvalidBatchEntryId" },
    OverLimit: { status: 403 },
    PurgeQueueInProgress: {
      queryCode: "AWS.SimpleQueueService.PurgeQueueInProgress",
      status: 403,
    },
    QueueDoesNotExist: { queryCode: "AWS.SimpleQueueService.NonExistentQueue" },
    QueueNameExists: { queryCode: "QueueAlreadyExists" },
    ReceiptHandleIsInvalid: { status: 404 },
    ResourceNotFoundException: { status: 404 },
    ServiceUnavailable: { status: 503 },
    TooManyEntriesInBatchRequest: {
      queryCode: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
    },
    UnsupportedOperation: { queryCode: "AWS.SimpleQueueService.UnsupportedOperation" },
  };

/** A request that SQS would refuse. */
export class SqsError extends Error {
  override readonly name = "SqsError";
  readonly code = "SQS_REFUSED";
  /** The name that the AWS SDK gives its error, such as `QueueDoesNotExist`. */
  readonly errorName: string;
  /** The code of the query protocol, which SQS sends along: it also stands in `Failed[].Code`. */
  readonly queryCode: string;
  /** The HTTP status. */
  readonly status: number;

  constructor(errorName: string, message: string) {
    super(message);
    this.errorName = errorName;
    this.queryCode = SPECIAL[errorName]?.queryCode ?? errorName;
    this.status = SPECIAL[errorName]?.status ?? 400;
  }
}

/** `InvalidParameterValue` in the words that SQS uses for it. */
export function invalidParameter(parameter: string, value: unknown, reason: string): SqsError {
  return new SqsError(
    "InvalidParameterValue",
    `Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}`,
  );
}

/** `MissingParameter` in the words that SQS uses for it. */
export function missingParameter(parameter: string): SqsError {
  return new SqsError("MissingParameter", `The request must contain the parameter ${parameter}.`);
}

/** A folder with the state of an embedded SQS cannot be read. Nothing in it was changed. */
export class DamagedStateError extends Error {
  override readonly name = "DamagedStateError";
  readonly code = "DAMAGED_STATE";
  readonly file: string;

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`${file} cannot be read: ${reason}`, options);
    this.file = file;
  }
}
