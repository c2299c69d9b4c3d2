/** What the actions take and give, in the words and units of SQS's own API (seconds, PascalCase). */

/** Whole seconds: the one unit of time in SQS's API, also where the name does not say so. */
export type Seconds = number;

/** A message attribute on its way in or out. */
export interface MessageAttribute {
  readonly DataType?: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: Uint8Array | undefined;
}

/** Attributes by name. */
export type MessageAttributes = Readonly<Record<string, MessageAttribute>>;

/** What SendMessage takes besides the queue; with `Id` it is an entry of SendMessageBatch. */
export interface SendFields {
  readonly MessageBody?: string | undefined;
  readonly DelaySeconds?: Seconds | undefined;
  readonly MessageAttributes?: MessageAttributes | undefined;
  readonly MessageSystemAttributes?: MessageAttributes | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageDeduplicationId?: string | undefined;
}

/** What SendMessage gives. */
export interface SendResult {
  readonly MessageId: string;
  readonly MD5OfMessageBody: string;
  readonly MD5OfMessageAttributes?: string;
  readonly MD5OfMessageSystemAttributes?: string;
  readonly SequenceNumber?: string;
}

/** What ReceiveMessage takes besides the queue. */
export interface ReceiveFields {
  readonly MaxNumberOfMessages?: number | undefined;
  readonly VisibilityTimeout?: Seconds | undefined;
  readonly WaitTimeSeconds?: Seconds | undefined;
  readonly AttributeNames?: readonly string[] | undefined;
  readonly MessageSystemAttributeNames?: readonly string[] | undefined;
  readonly MessageAttributeNames?: readonly string[] | undefined;
  readonly ReceiveRequestAttemptId?: string | undefined;
}

/** A message as ReceiveMessage gives it. */
export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly MD5OfBody: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MD5OfMessageAttributes?: string;
  readonly MessageAttributes?: MessageAttributes;
}

/** What ReceiveMessage gives; no `Messages` when there are none, as SQS has it. */
export interface ReceiveResult {
  readonly Messages?: readonly ReceivedMessage[];
}

/** A batch, entry by entry. */
export interface Batch<Entry> {
  readonly QueueUrl?: string | undefined;
  readonly Entries?: readonly (Entry & { readonly Id?: string | undefined })[] | undefined;
}

/** An entry that was refused. */
export interface FailedEntry {
  readonly Id: string;
  readonly Code: string;
  readonly Message: string;
  readonly SenderFault: boolean;
}

/** What a batch gives: the request succeeds although entries fail. */
export interface BatchResult<Entry> {
  readonly Successful: readonly (Entry & { readonly Id: string })[];
  readonly Failed: readonly FailedEntry[];
}

/** A task that moves messages back out of a dead-letter queue. */
export interface MoveTaskResult {
  readonly TaskHandle?: string;
  readonly Status: string;
  readonly SourceArn: string;
  readonly DestinationArn?: string;
  readonly MaxNumberOfMessagesPerSecond?: number;
  readonly ApproximateNumberOfMessagesMoved: number;
  readonly ApproximateNumberOfMessagesToMove: number;
  readonly FailureReason?: string;
  readonly StartedTimestamp: number;
}

/** A request that names its queue by URL; only the path of the URL counts. */
export interface OnQueue {
  readonly QueueUrl?: string | undefined;
}
