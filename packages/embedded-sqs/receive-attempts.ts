/** Receives of a FIFO queue that may be asked again under the same attempt id. Pure. */

import { PriorityHeap } from "./priority-heap.ts";
import type { QueueState } from "./queue-state.ts";
import type { StoredMessage } from "./stored-message.ts";

/** How long an attempt id is remembered. @see SQS API reference, ReceiveMessage */
const ATTEMPT_INTERVAL_MS = 5 * 60_000;

interface Attempt {
  readonly attemptId: string;
  readonly atMs: number;
  readonly taken: readonly { messageId: string; receipt: number; visibleAtMs: number }[];
}

/** Kept in memory only: a restart forgets them, and a repeated receive is then a new one. */
export class ReceiveAttempts {
  readonly #attempts = new Map<string, Attempt>();
  readonly #byAge = new PriorityHeap<Attempt>((a, b) => a.atMs < b.atMs);

  remember(attemptId: string, messages: readonly StoredMessage[], nowMs: number): void {
    const taken = messages.map(({ messageId, receipt, visibleAtMs }) => ({
      messageId,
      receipt,
      visibleAtMs,
    }));
    const attempt = { attemptId, atMs: nowMs, taken };
    this.#forget(this.#attempts.get(attemptId));
    if (taken.length === 0) return;
    this.#attempts.set(attemptId, attempt);
    this.#byAge.put(attempt);
  }

  /**
   * What the receive under this id took, when all of it is still held as it was. Once a message was
   * deleted, or its visibility changed or ended, a repeated receive is a new one.
   */
  find(attemptId: string, state: QueueState, nowMs: number): StoredMessage[] | undefined {
    for (let oldest = this.#byAge.peek(); oldest !== undefined; oldest = this.#byAge.peek()) {
      if (oldest.atMs + ATTEMPT_INTERVAL_MS > nowMs) break;
      this.#forget(oldest);
    }
    const attempt = this.#attempts.get(attemptId);
    if (attempt === undefined) return undefined;
    const held: StoredMessage[] = [];
    for (const { messageId, receipt, visibleAtMs } of attempt.taken) {
      const message = state.message(messageId);
      if (message?.state !== "in-flight" || message.receipt !== receipt) return undefined;
      if (message.visibleAtMs !== visibleAtMs) return undefined;
      held.push(message);
    }
    return held;
  }

  #forget(attempt: Attempt | undefined): void {
    if (attempt === undefined) return;
    this.#byAge.remove(attempt);
    this.#attempts.delete(attempt.attemptId);
  }
}
