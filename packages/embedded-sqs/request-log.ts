/** What an account reports of each request: when it came, what it did to which message. */

/** What one request did to one message. */
export interface RequestEntry {
  readonly messageId?: string;
  readonly receiptHandle?: string;
  /** Given by ChangeMessageVisibility; 0 is a release. */
  readonly visibilityTimeoutSeconds?: number;
  /** Of a received message, this receive included. */
  readonly receiveCount?: number;
  /**
   * `sent`, `received`, `changed`, `deleted`; `no-effect` when SQS answers success and nothing
   * changed; else the code of the refusal.
   */
  readonly outcome: string;
}

/** A request has arrived. Times are on the clock's wall time. */
export interface RequestBegun {
  readonly kind: "begun";
  readonly requestNumber: number;
  readonly action: string;
  readonly queueName: string | undefined;
  readonly startedAtMs: number;
}

/** A request was answered; of a long poll whose client has gone this is when the poll ended. */
export interface RequestAnswered extends Omit<RequestBegun, "kind"> {
  readonly kind: "answered";
  readonly endedAtMs: number;
  /** `ok`, or the name of the error. */
  readonly result: string;
  readonly entries: readonly RequestEntry[];
  /** Nobody was there to take the answer: messages in it hide for their visibility timeout. */
  readonly isClientGone: boolean;
}

/** Told of every request; must not throw. */
export type RequestObserver = (event: RequestBegun | RequestAnswered) => void;
