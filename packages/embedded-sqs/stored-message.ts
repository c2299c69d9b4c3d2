/** One message in a queue: what was sent, and where its delivery stands. */

/** A message attribute as it is kept; binary values as base64, so that it can be written as JSON. */
export interface StoredAttribute {
  readonly dataType: string;
  readonly text?: string;
  readonly base64?: string;
}

/** What a producer sent: checked, and never changed afterwards. */
export interface MessageContent {
  readonly body: string;
  readonly attributes: Readonly<Record<string, StoredAttribute>>;
  readonly traceHeader?: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
}

/**
 * Where a message stands: `delayed` until its delay is over, `visible` to the next receive,
 * `in-flight` with whoever received it last until its visibility timeout is over. A message that
 * was deleted is gone; there is no state for it.
 */
export type DeliveryState = "delayed" | "visible" | "in-flight";

/** A message as a queue holds it. Only `QueueState` changes it. */
export interface StoredMessage {
  readonly messageId: string;
  readonly content: MessageContent;
  readonly senderId: string;
  /** When it was first sent; its retention counts from here. */
  readonly sentAtMs: number;
  /** Its place among all messages of the account: order in its queue or its group. */
  readonly order: number;
  /** FIFO only: what SQS calls SequenceNumber. */
  readonly sequenceNumber?: string;
  /** The queue it was dead-lettered from, to which a move task brings it back. */
  readonly deadLetterSourceArn?: string;
  state: DeliveryState;
  /** When it becomes visible; in the past when it is. */
  visibleAtMs: number;
  /** Every receive in its life, also those before it was dead-lettered. */
  receiveCount: number;
  /** Receives in this queue: what the redrive policy counts. */
  receivesHere: number;
  /** The number of its latest receipt; a handle with a smaller one is stale. */
  receipt: number;
  firstReceivedAtMs?: number;
  /** When the request of its latest receive arrived: the 12 hours count from here. */
  claimedAtMs?: number;
}

/** Whether `a` stands before `b` in the order of sending. */
export function sentBefore(a: StoredMessage, b: StoredMessage): boolean {
  return a.order < b.order;
}
