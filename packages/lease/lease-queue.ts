/** Port: receive, change visibility, delete, dead-letter, with an answer for each entry. */

/** One attribute of a message, as SQS has it. */
export interface MessageAttribute {
  /** `String`, `Number`, `Binary`, each with an optional label as in `String.json`. */
  readonly dataType: string;
  /** For `Binary` the bytes, otherwise the text. */
  readonly value: string | Uint8Array;
}

/** A message without the right to work on it. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  /** How often SQS has handed it out, this time included. */
  readonly receiveCount: number;
  /** When the producer's send arrived, Unix time by SQS's clock; 0 when SQS did not say. */
  readonly sentAtMs: number;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly sequenceNumber?: string;
  /** AWS X-Ray trace header. */
  readonly traceHeader?: string;
}

/** A message and the handle of this receipt, which never leaves this package. */
export interface Receipt {
  readonly message: ReceivedMessage;
  readonly receiptHandle: string;
}

/** What one ReceiveMessage asks for. */
export interface ReceiveRequest {
  /** 1..10 */
  readonly maxMessages: number;
  /** Long poll, whole seconds, 0..20,000. */
  readonly waitMs: number;
  /** Whole seconds. */
  readonly visibilityTimeoutMs: number;
  /** Ends the call by force. Only for a shutdown that cannot wait: SQS may deliver all the same. */
  readonly signal?: AbortSignal;
  /**
   * FIFO: names this receive. One that was sent before and whose answer was lost brings what it took
   * then, once more and for another visibility timeout, as long as nothing of it has changed.
   */
  readonly attemptId?: string;
}

/** A new visibility for one receipt. */
export interface VisibilityChange {
  readonly receiptHandle: string;
  /** Whole seconds, 0..43,200,000; counts from the moment SQS gets the call. */
  readonly visibilityTimeoutMs: number;
}

/**
 * What became of one entry of a call.
 *
 * - `ok`: done. For a change of visibility that is no proof that the lease was still ours.
 * - `refused`: SQS will never take this handle again (gone, deleted, expired, malformed).
 * - `not-applied`: proof that nothing happened (throttled, connection refused, a retryable entry in
 *   `Failed[]`); it may be tried again.
 * - `unknown`: it may have happened or not (timeout, reset, 5xx).
 */
export type CallAnswer =
  | { readonly kind: "ok" }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "not-applied"; readonly code: string; readonly cause?: unknown }
  | { readonly kind: "unknown"; readonly code: string; readonly cause?: unknown };

/** A copy for the dead-letter queue. */
export interface DeadLetterCopy {
  readonly body: string;
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly traceHeader?: string;
}

/**
 * One queue, as leases need it. Batch calls take one to ten entries and return one answer for each,
 * in their order; they do not throw for what SQS or the network says.
 */
export interface LeaseQueue {
  /** The queue's name, for events. */
  readonly name: string;
  /**
   * Where it is, for an extender in its own thread, which makes its calls without this object.
   * Known once a receive has been answered; leases are extended in this thread while it is not.
   */
  readonly url?: string | undefined;
  readonly fifo: boolean;
  /** Whether `deadLetter` has somewhere to send to. */
  readonly hasDeadLetterQueue: boolean;
  /** @throws ClaimFailedError whose `retryable` tells a passing fault from a final one. */
  receive(request: ReceiveRequest): Promise<readonly Receipt[]>;
  changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]>;
  delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]>;
  deadLetter(copy: DeadLetterCopy): Promise<CallAnswer>;
}
