/** One queue as a pure model: send, receive, change visibility, delete, as SQS does them. */

import { invalidParameter, type SqsError } from "./errors.ts";
import { acceptContent, deadLetterCopy, newMessage } from "./message-origin.ts";
import { type QueueSettings, readSettings } from "./queue-attributes.ts";
import type {
  AccountChange,
  MessageChange,
  QueueAttributes,
  QueueIdentity,
} from "./queue-change.ts";
import { QueueState } from "./queue-state.ts";
import type { Departure } from "./queue-statistics.ts";
import { readReceiptHandle, writeReceiptHandle } from "./receipt-handle.ts";
import { ReceiveAttempts } from "./receive-attempts.ts";
import { type RedrivePolicy, readRedrivePolicy } from "./redrive-policy.ts";
import type { MessageContent, StoredMessage } from "./stored-message.ts";

/** The longest that a message stays with one receiver. @see SQS Developer Guide, "Visibility timeout" */
const MAX_VISIBILITY_MS = 43_200_000;

/** What a queue needs of its account. */
export interface QueueSurroundings {
  readonly inFlightLimit: number;
  readonly senderId: string;
  /** The time on the account's axis. */
  nowMs(): number;
  newId(): string;
  /** The next number in the account's order of messages. */
  nextOrder(): number;
  /** Told of each change after it was applied. */
  record(change: AccountChange): void;
  queueByArn(arn: string): Queue | undefined;
}

/** A receive as it stands in line. Times are milliseconds here. */
export interface ReceiveRequest {
  readonly maxMessages: number;
  readonly visibilityTimeoutMs: number;
  /** When the request arrived: the 12 hours of what it brings count from here. */
  readonly claimedAtMs: number;
  readonly attemptId: string | undefined;
}

/** What a receive took, with the handle of each receipt; and how many it moved to the dead-letter queue. */
export interface Taken {
  readonly messages: readonly { readonly message: StoredMessage; readonly handle: string }[];
  readonly movedToDeadLetter: number;
}

/** What a send did; a duplicate has the id of the message that was there before. */
export interface Sent {
  readonly messageId: string;
  readonly sequenceNumber: string | undefined;
}

/** A queue. Every method first lets happen what time alone has changed. */
export class Queue {
  readonly identity: QueueIdentity;
  readonly state: QueueState;
  readonly #surroundings: QueueSurroundings;
  readonly #attempts = new ReceiveAttempts();
  #attributes: QueueAttributes = {};
  #settings: QueueSettings = readSettings({});
  #redrivePolicy: RedrivePolicy | undefined;
  tags: QueueAttributes = {};
  modifiedAtMs: number;
  purgedAtMs: number | undefined;

  constructor(
    identity: QueueIdentity,
    attributes: QueueAttributes,
    surroundings: QueueSurroundings,
  ) {
    this.identity = identity;
    this.state = new QueueState(identity.isFifo);
    this.modifiedAtMs = identity.createdAtMs;
    this.#surroundings = surroundings;
    this.attributes = attributes;
  }

  get attributes(): QueueAttributes {
    return this.#attributes;
  }

  set attributes(attributes: QueueAttributes) {
    this.#attributes = attributes;
    this.#settings = readSettings(attributes);
    this.#redrivePolicy = readRedrivePolicy(attributes);
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  get redrivePolicy(): RedrivePolicy | undefined {
    return this.#redrivePolicy;
  }

  /** @throws SqsError when the queue does not take such a message */
  send(content: MessageContent, delayMs: number | undefined): Sent {
    const nowMs = this.settle();
    const complete = acceptContent(content, delayMs, this.identity.isFifo, this.#settings);
    const earlier = this.state.deduplication.find(this.#deduplicationKey(complete), nowMs);
    if (earlier !== undefined) {
      this.#commit({ kind: "deduplicated" });
      return { messageId: earlier.messageId, sequenceNumber: earlier.sequenceNumber };
    }
    const message = newMessage(complete, {
      messageId: this.#surroundings.newId(),
      order: this.#surroundings.nextOrder(),
      senderId: this.#surroundings.senderId,
      isFifo: this.identity.isFifo,
      nowMs,
      delayMs: delayMs ?? this.#settings.delayMs,
    });
    this.#commit({ kind: "arrived", by: "sent", message });
    return { messageId: message.messageId, sequenceNumber: message.sequenceNumber };
  }

  /**
   * Takes what is visible, up to the limits. A message that has used up its receives is moved to the
   * dead-letter queue instead of being handed out; time passing alone moves none.
   */
  receive(request: ReceiveRequest): Taken {
    const nowMs = this.settle();
    const replayed = this.#replay(request, nowMs);
    if (replayed !== undefined) return replayed;
    const taken: StoredMessage[] = [];
    let movedToDeadLetter = 0;
    const visibleAtMs = nowMs + request.visibilityTimeoutMs;
    this.state.order.begin();
    while (taken.length < request.maxMessages && !this.isAtInFlightLimit) {
      const message = this.state.order.next();
      if (message === undefined) break;
      if (this.#moveToDeadLetter(message, nowMs)) {
        movedToDeadLetter += 1;
        continue;
      }
      const { messageId } = message;
      const { claimedAtMs } = request;
      this.#commit({ kind: "received", messageId, atMs: nowMs, claimedAtMs, visibleAtMs });
      taken.push(message);
    }
    if (request.attemptId !== undefined) this.#attempts.remember(request.attemptId, taken, nowMs);
    const messages = taken.map((message) => ({ message, handle: this.#handleOf(message) }));
    this.settle();
    return { messages, movedToDeadLetter };
  }

  get isAtInFlightLimit(): boolean {
    return this.state.counts.inFlight >= this.#surroundings.inFlightLimit;
  }

  /**
   * On a standard queue a stale handle acts on whoever holds the message now, and a message that
   * nobody holds stays as it is: both answer like a success, as SQS does.
   *
   * @returns the message it named, and whether anything changed
   * @throws SqsError when the handle is none of this queue, or the time would pass the 12 hours
   */
  changeVisibility(
    handle: string,
    visibilityTimeoutMs: number,
  ): { messageId: string; took: boolean } {
    const nowMs = this.settle();
    const { messageId, receipt } = readReceiptHandle(handle, this.identity.queueId);
    const message = this.state.message(messageId);
    if (message === undefined) {
      throw invalidHandle(
        handle,
        "Message does not exist or is not available for visibility timeout change.",
      );
    }
    if (this.identity.isFifo && receipt !== message.receipt) throw expiredHandle(handle);
    if (message.state !== "in-flight") return { messageId, took: false };
    const visibleAtMs = nowMs + visibilityTimeoutMs;
    if (visibleAtMs > (message.claimedAtMs ?? nowMs) + MAX_VISIBILITY_MS) {
      throw invalidParameter(
        "VisibilityTimeout",
        visibilityTimeoutMs / 1000,
        "Total VisibilityTimeout for the message is beyond the limit [43200 seconds].",
      );
    }
    this.#commit({ kind: "visibility-changed", messageId, atMs: nowMs, visibleAtMs });
    return { messageId, took: true };
  }

  /**
   * On a standard queue any handle of the message deletes it, whoever holds it now; a message that
   * is gone already counts as deleted.
   *
   * @throws SqsError when the handle is none of this queue, or (FIFO) its time is over
   */
  delete(handle: string): { messageId: string; took: boolean } {
    this.settle();
    const { messageId, receipt } = readReceiptHandle(handle, this.identity.queueId);
    const message = this.state.message(messageId);
    if (message === undefined) return { messageId, took: false };
    const isHeld = message.state === "in-flight" && message.receipt === receipt;
    if (this.identity.isFifo && !isHeld) throw expiredHandle(handle);
    this.take(message, "deleted");
    return { messageId, took: true };
  }

  /** Takes a message out. */
  take(message: StoredMessage, as: Departure): void {
    this.#commit({ kind: "left", messageId: message.messageId, as });
  }

  /** Takes in a message that comes from a redrive policy or a move task. */
  admit(message: StoredMessage, by: "dead-lettered" | "redriven"): void {
    this.#commit({ kind: "arrived", by, message });
  }

  /** Removes every message, whoever holds it. What FIFO deduplication remembers stays. */
  purge(atMs: number): void {
    for (const { messageId } of this.state.messages()) {
      this.state.apply({ kind: "left", messageId, as: "purged" });
    }
    this.purgedAtMs = atMs;
  }

  /** Lets happen what time alone has changed. @returns the time, for whoever goes on from here */
  settle(): number {
    const nowMs = this.#surroundings.nowMs();
    for (;;) {
      const change = this.state.nextDue(nowMs, this.#settings.retentionMs);
      if (change === undefined) return nowMs;
      this.#commit(change);
    }
  }

  /** Applies a change that is recorded already. */
  apply(change: MessageChange): void {
    this.state.apply(change);
    if (change.kind !== "arrived" || change.by !== "sent" || !this.identity.isFifo) return;
    const { content, messageId, sequenceNumber = "", sentAtMs } = change.message;
    const key = this.#deduplicationKey(content);
    this.state.deduplication.remember({ key, messageId, sequenceNumber, sentAtMs });
  }

  #commit(change: MessageChange): void {
    this.apply(change);
    this.#surroundings.record({ kind: "message", queueId: this.identity.queueId, change });
  }

  #deduplicationKey({ deduplicationId = "", groupId = "" }: MessageContent): string {
    return this.#settings.isDeduplicatedByGroup ? `${groupId} ${deduplicationId}` : deduplicationId;
  }

  #moveToDeadLetter(message: StoredMessage, nowMs: number): boolean {
    const policy = this.#redrivePolicy;
    if (policy === undefined || message.receivesHere < policy.maxReceiveCount) return false;
    const target = this.#surroundings.queueByArn(policy.deadLetterTargetArn);
    if (target === undefined) return false;
    this.take(message, "dead-lettered");
    const order = this.#surroundings.nextOrder();
    const copy = deadLetterCopy(message, { order, nowMs, source: this.identity });
    target.admit(copy, "dead-lettered");
    return true;
  }

  #replay({ attemptId, visibilityTimeoutMs }: ReceiveRequest, nowMs: number): Taken | undefined {
    if (attemptId === undefined) return undefined;
    const held = this.#attempts.find(attemptId, this.state, nowMs);
    if (held === undefined) return undefined;
    const visibleAtMs = nowMs + visibilityTimeoutMs;
    for (const { messageId } of held) {
      this.#commit({ kind: "visibility-reset", messageId, visibleAtMs });
    }
    this.#attempts.remember(attemptId, held, nowMs);
    const messages = held.map((message) => ({ message, handle: this.#handleOf(message) }));
    return { messages, movedToDeadLetter: 0 };
  }

  #handleOf({ messageId, receipt }: StoredMessage): string {
    return writeReceiptHandle({ queueId: this.identity.queueId, messageId, receipt });
  }
}

function invalidHandle(handle: string, reason: string): SqsError {
  return invalidParameter("ReceiptHandle", handle, reason);
}

function expiredHandle(handle: string): SqsError {
  return invalidHandle(handle, "The receipt handle has expired.");
}
