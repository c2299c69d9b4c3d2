/** What Lambda hands to a function that reads SQS, and what it wants back. */

/** One attribute of a message, in Lambda's words. */
export interface SqsRecordAttribute {
  readonly dataType: string;
  readonly stringValue?: string | undefined;
  /** Base64. */
  readonly binaryValue?: string | undefined;
}

/** What SQS itself says of a message. */
export interface SqsSystemAttributes {
  readonly ApproximateReceiveCount?: string | undefined;
  readonly ApproximateFirstReceiveTimestamp?: string | undefined;
  readonly SentTimestamp?: string | undefined;
  readonly SenderId?: string | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageDeduplicationId?: string | undefined;
  readonly SequenceNumber?: string | undefined;
  readonly AWSTraceHeader?: string | undefined;
}

/** One message, in Lambda's words. */
export interface SqsRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: SqsSystemAttributes;
  readonly messageAttributes: Readonly<Record<string, SqsRecordAttribute>>;
  readonly md5OfBody: string;
  readonly eventSource: string;
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

/** One batch of messages of one queue. */
export interface SqsEvent {
  readonly Records: readonly SqsRecord[];
}

/** What Lambda says of an invocation; the fields that a job is ever asked for. */
export interface LambdaContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  callbackWaitsForEmptyEventLoop: boolean;
  getRemainingTimeInMillis(): number;
}

/**
 * Which messages are not done. Lambda deletes all others of the batch.
 * @see Lambda Developer Guide, "Implementing partial batch responses"
 */
export interface BatchResponse {
  readonly batchItemFailures: { readonly itemIdentifier: string }[];
}
