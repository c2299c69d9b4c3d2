/** The calls that leases make, each with a hard timeout; they answer always and never throw. */

import type { Clock } from "@leasehold/clock";
import type { CallAnswer, DeadLetterCopy, LeaseQueue, VisibilityChange } from "./lease-queue.ts";

/**
 * A queue as its leases call it. The hard timeout is kept here as well as in the adapter, because
 * every promise about a lease rests on it.
 */
export class LeaseCalls {
  readonly #queue: LeaseQueue;
  readonly #clock: Clock;
  readonly #callTimeoutMs: number;
  readonly #inFlight = new Set<Promise<unknown>>();

  constructor(queue: LeaseQueue, clock: Clock, callTimeoutMs: number) {
    this.#queue = queue;
    this.#clock = clock;
    this.#callTimeoutMs = callTimeoutMs;
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]> {
    return this.#bounded(entries.length, () => this.#queue.changeVisibility(entries));
  }

  delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]> {
    return this.#bounded(receiptHandles.length, () => this.#queue.delete(receiptHandles));
  }

  async deadLetter(copy: DeadLetterCopy): Promise<CallAnswer> {
    const answers = await this.#bounded(1, async () => [await this.#queue.deadLetter(copy)]);
    return answers[0] ?? UNANSWERED;
  }

  /** One answer for each entry: what the queue does not say in time is unknown. */
  #bounded(
    entries: number,
    call: () => Promise<readonly CallAnswer[]>,
  ): Promise<readonly CallAnswer[]> {
    const { promise, resolve } = Promise.withResolvers<readonly CallAnswer[]>();
    const answer = (answers: readonly CallAnswer[]) => {
      cancelTimeout();
      this.#inFlight.delete(promise);
      resolve(Array.from({ length: entries }, (_, index) => answers[index] ?? UNANSWERED));
    };
    const fail = (code: string, cause?: unknown) =>
      answer(Array.from({ length: entries }, () => ({ kind: "unknown", code, cause })));
    const cancelTimeout = this.#clock.schedule(this.#callTimeoutMs, () => fail("TimeoutError"));
    this.#inFlight.add(promise);
    invoke(call).then(answer, (error: unknown) => fail("CallFailed", error));
    return promise;
  }
}

const UNANSWERED: CallAnswer = { kind: "unknown", code: "NoAnswer" };

/** Makes a throw before the first await a rejection like any other. */
async function invoke<Result>(call: () => Promise<Result>): Promise<Result> {
  return call();
}
