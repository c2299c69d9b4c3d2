/** A queue with the semantics that matter here: visibility, receive counts, duplicates. */

import type { SimClock } from "../../../../test/support/sim/sim-clock.ts";

/** A message. */
export interface SimMessage {
  readonly messageId: string;
  receiveCount: number;
  visibleAtMs: number;
  isDeleted: boolean;
}

/** A queue of few messages. */
export class SimQueue {
  readonly messages: SimMessage[] = [];
  readonly #clock: SimClock;

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  send(messageId: string, delayMs = 0): SimMessage {
    const visibleAtMs = this.#clock.monotonicMs() + delayMs;
    const message = { messageId, receiveCount: 0, visibleAtMs, isDeleted: false };
    this.messages.push(message);
    return message;
  }

  /** One that is visible, hidden from now on; with its receive count at this delivery. */
  receive(visibilityMs: number, pick: <Value>(from: readonly Value[]) => Value) {
    const nowMs = this.#clock.monotonicMs();
    const visible = this.messages.filter((one) => !one.isDeleted && one.visibleAtMs <= nowMs);
    if (visible.length === 0) return undefined;
    const message = pick(visible);
    message.receiveCount += 1;
    message.visibleAtMs = nowMs + visibilityMs;
    return { message, receiveCount: message.receiveCount };
  }

  changeVisibility(message: SimMessage, visibilityMs: number): void {
    message.visibleAtMs = this.#clock.monotonicMs() + visibilityMs;
  }

  /** When the next one becomes visible; `undefined` when none is left. */
  nextVisibleAtMs(): number | undefined {
    const left = this.messages.filter(({ isDeleted }) => !isDeleted);
    return left.length === 0 ? undefined : Math.min(...left.map((one) => one.visibleAtMs));
  }

  get isEmpty(): boolean {
    return this.messages.every(({ isDeleted }) => isDeleted);
  }
}
