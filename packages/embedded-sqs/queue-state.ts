/** The messages of one queue and how each change moves them. Pure: time comes in with the change. */

import { Deduplication } from "./deduplication.ts";
import type { DeliveryOrder } from "./delivery-order.ts";
import { FairOrder } from "./fair-order.ts";
import { FifoOrder } from "./fifo-order.ts";
import { PriorityHeap } from "./priority-heap.ts";
import type { MessageChange } from "./queue-change.ts";
import {
  ARRIVAL_COUNTER,
  DEPARTURE_COUNTER,
  emptyStatistics,
  type QueueStatistics,
} from "./queue-statistics.ts";
import { type DeliveryState, type StoredMessage, sentBefore } from "./stored-message.ts";

/** How many messages stand where. */
export interface MessageCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/**
 * Moves of a message: arrived -> delayed | visible; delayed -> visible (time); visible -> in-flight
 * (received); in-flight -> in-flight | visible (visibility changed), -> visible (time); any -> gone
 * (left, final). Each move goes through `apply`, whether it happens now or is read from a journal.
 */
export class QueueState {
  readonly statistics: QueueStatistics = emptyStatistics();
  readonly deduplication: Deduplication = new Deduplication();
  readonly order: DeliveryOrder;
  readonly #messages = new Map<string, StoredMessage>();
  readonly #hidden = new PriorityHeap<StoredMessage>((a, b) =>
    a.visibleAtMs === b.visibleAtMs ? sentBefore(a, b) : a.visibleAtMs < b.visibleAtMs,
  );
  readonly #byAge = new PriorityHeap<StoredMessage>((a, b) => a.sentAtMs < b.sentAtMs);
  readonly #standing: Record<DeliveryState, number> = { delayed: 0, visible: 0, "in-flight": 0 };

  constructor(isFifo: boolean) {
    this.order = isFifo ? new FifoOrder() : new FairOrder();
  }

  get counts(): MessageCounts {
    const { visible, delayed } = this.#standing;
    return { visible, delayed, inFlight: this.#standing["in-flight"] };
  }

  /** When the next hidden message becomes visible by itself. */
  get nextVisibleAtMs(): number | undefined {
    return this.#hidden.peek()?.visibleAtMs;
  }

  message(messageId: string): StoredMessage | undefined {
    return this.#messages.get(messageId);
  }

  /** Every message, in no order that means anything. */
  messages(): Iterable<StoredMessage> {
    return this.#messages.values();
  }

  /** What time alone has changed by `nowMs`, one change after the other, until there is none. */
  nextDue(nowMs: number, retentionMs: number): MessageChange | undefined {
    const oldest = this.#byAge.peek();
    if (oldest !== undefined && oldest.sentAtMs + retentionMs <= nowMs) {
      return { kind: "left", messageId: oldest.messageId, as: "expired" };
    }
    const first = this.#hidden.peek();
    if (first === undefined || first.visibleAtMs > nowMs) return undefined;
    return { kind: "appeared", messageId: first.messageId };
  }

  apply(change: MessageChange): void {
    if (change.kind === "deduplicated") {
      this.statistics.deduplicated += 1;
      return;
    }
    if (change.kind === "arrived") {
      this.statistics[ARRIVAL_COUNTER[change.by]] += 1;
      this.restore(change.message);
      return;
    }
    const message = this.#messages.get(change.messageId);
    if (message === undefined) return;
    switch (change.kind) {
      case "received":
        this.#receive(message, change.atMs, change.claimedAtMs);
        this.#move(message, "in-flight", change.visibleAtMs);
        break;
      case "visibility-changed": {
        const isReleased = change.visibleAtMs <= change.atMs;
        this.statistics.visibilityChanged += 1;
        if (isReleased) this.statistics.released += 1;
        this.#move(message, isReleased ? "visible" : "in-flight", change.visibleAtMs);
        break;
      }
      case "visibility-reset":
        this.#move(message, "in-flight", change.visibleAtMs);
        break;
      case "appeared":
        if (message.state === "in-flight") this.statistics.lapsed += 1;
        this.#move(message, "visible", message.visibleAtMs);
        break;
      case "left":
        this.statistics[DEPARTURE_COUNTER[change.as]] += 1;
        this.#remove(message);
        break;
    }
  }

  /** Puts a message in as it stands, without counting it. */
  restore(message: StoredMessage): void {
    this.#messages.set(message.messageId, message);
    this.#byAge.put(message);
    this.#enter(message);
  }

  #receive(message: StoredMessage, atMs: number, claimedAtMs: number): void {
    message.receipt += 1;
    message.receiveCount += 1;
    message.receivesHere += 1;
    message.firstReceivedAtMs ??= atMs;
    message.claimedAtMs = claimedAtMs;
    this.statistics.received += 1;
  }

  #move(message: StoredMessage, state: DeliveryState, visibleAtMs: number): void {
    this.#leave(message);
    message.state = state;
    message.visibleAtMs = visibleAtMs;
    this.#enter(message);
  }

  #remove(message: StoredMessage): void {
    this.#leave(message);
    this.#byAge.remove(message);
    this.#messages.delete(message.messageId);
  }

  #enter(message: StoredMessage): void {
    this.#standing[message.state] += 1;
    if (message.state !== "visible") this.#hidden.put(message);
    this.order.enter(message);
  }

  #leave(message: StoredMessage): void {
    this.#standing[message.state] -= 1;
    this.#hidden.remove(message);
    this.order.leave(message);
  }
}
