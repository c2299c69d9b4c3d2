/** What a FIFO queue remembers for five minutes: which messages were sent already. Pure. */

import { PriorityHeap } from "./priority-heap.ts";

/** How long a deduplication id is remembered. @see SQS API reference, SendMessage */
const DEDUPLICATION_INTERVAL_MS = 5 * 60_000;

/** A send that is remembered, whether its message is still there or not. */
export interface RememberedSend {
  readonly key: string;
  readonly messageId: string;
  readonly sequenceNumber: string;
  readonly sentAtMs: number;
}

/** Sends by deduplication id, forgotten after five minutes. */
export class Deduplication {
  readonly #sends = new Map<string, RememberedSend>();
  readonly #byAge = new PriorityHeap<RememberedSend>((a, b) => a.sentAtMs < b.sentAtMs);

  /** The send that makes another one under `key` a duplicate at `nowMs`. */
  find(key: string, nowMs: number): RememberedSend | undefined {
    this.#forget(nowMs);
    return this.#sends.get(key);
  }

  remember(send: RememberedSend): void {
    this.#sends.set(send.key, send);
    this.#byAge.put(send);
  }

  /** What is remembered, for a snapshot. */
  remembered(): Iterable<RememberedSend> {
    return this.#sends.values();
  }

  #forget(nowMs: number): void {
    for (;;) {
      const oldest = this.#byAge.peek();
      if (oldest === undefined || oldest.sentAtMs + DEDUPLICATION_INTERVAL_MS > nowMs) return;
      this.#byAge.remove(oldest);
      if (this.#sends.get(oldest.key) === oldest) this.#sends.delete(oldest.key);
    }
  }
}
