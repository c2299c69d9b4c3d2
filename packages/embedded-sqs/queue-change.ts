/** Everything that can change a queue, as data: applied to its state and written to its journal. */

import type { RememberedSend } from "./deduplication.ts";
import type { Arrival, Departure, QueueStatistics } from "./queue-statistics.ts";
import type { StoredMessage } from "./stored-message.ts";

/** A change to the messages of one queue. Times are on the account's own axis, see `Queues`. */
export type MessageChange =
  | { readonly kind: "arrived"; readonly by: Arrival; readonly message: StoredMessage }
  | {
      readonly kind: "received";
      readonly messageId: string;
      readonly atMs: number;
      /** When the request of this receive arrived. */
      readonly claimedAtMs: number;
      readonly visibleAtMs: number;
    }
  | {
      readonly kind: "visibility-changed";
      readonly messageId: string;
      readonly atMs: number;
      readonly visibleAtMs: number;
    }
  /** A repeated receive (same attempt id) hides what the first one took for another timeout. */
  | { readonly kind: "visibility-reset"; readonly messageId: string; readonly visibleAtMs: number }
  /** Its delay or its visibility timeout is over. */
  | { readonly kind: "appeared"; readonly messageId: string }
  | { readonly kind: "left"; readonly messageId: string; readonly as: Departure }
  /** A send that FIFO deduplication accepted without a new message. */
  | { readonly kind: "deduplicated" };

/** Attributes as their owner set them, by SQS's names. */
export type QueueAttributes = Readonly<Record<string, string>>;

/** A change to a queue or the account, for the journal. */
export type AccountChange =
  | {
      readonly kind: "queue-created";
      readonly identity: QueueIdentity;
      readonly attributes: QueueAttributes;
      readonly tags: QueueAttributes;
    }
  | {
      readonly kind: "queue-set";
      readonly queueId: string;
      readonly attributes: QueueAttributes;
      readonly tags: QueueAttributes;
      readonly atMs: number;
    }
  | { readonly kind: "queue-purged"; readonly queueId: string; readonly atMs: number }
  | { readonly kind: "queue-deleted"; readonly queueId: string }
  | { readonly kind: "message"; readonly queueId: string; readonly change: MessageChange }
  | { readonly kind: "move-task"; readonly task: MoveTask }
  /** A whole queue without its messages, from a snapshot. */
  | {
      readonly kind: "queue-restored";
      readonly identity: QueueIdentity;
      readonly attributes: QueueAttributes;
      readonly tags: QueueAttributes;
      readonly modifiedAtMs: number;
      readonly purgedAtMs?: number;
      readonly statistics: QueueStatistics;
      readonly remembered: readonly RememberedSend[];
    }
  /** A message as it stood when the snapshot was taken. */
  | { readonly kind: "message-restored"; readonly queueId: string; readonly message: StoredMessage }
  /** The last number given in the order of messages, which may be of a message that has gone. */
  | { readonly kind: "order-restored"; readonly order: number };

/** What is fixed when a queue is created. */
export interface QueueIdentity {
  readonly queueId: string;
  readonly queueName: string;
  readonly arn: string;
  readonly isFifo: boolean;
  readonly createdAtMs: number;
}

/** A task that moves messages out of a dead-letter queue; changed by being replaced. */
export interface MoveTask {
  readonly taskId: string;
  readonly sourceArn: string;
  /** Absent: each message goes back to the queue it was dead-lettered from. */
  readonly destinationArn?: string;
  readonly messagesPerSecond?: number;
  readonly status: "RUNNING" | "COMPLETED" | "CANCELLED" | "FAILED";
  readonly moved: number;
  readonly toMove: number;
  readonly startedAtMs: number;
  readonly failureReason?: string;
}
