/** Gathers single jobs for a moment, to send them together. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import { MAX_BATCH_ENTRIES } from "./limits.ts";
import type { MessageEntry } from "./message-entry.ts";
import type { ResolvedProducerOptions } from "./options.ts";
import { batchLength } from "./send-batch.ts";
import type { SendOutcome } from "./sqs-sender.ts";

/** Sends one batch: an outcome for each entry, in their order. Never rejects. */
export type SendBatch = (batch: readonly MessageEntry[]) => Promise<readonly SendOutcome[]>;

interface Waiting {
  readonly entry: MessageEntry;
  readonly bytes: number;
  readonly groupId: string;
  readonly addedAtMs: number;
  readonly end: (outcome: SendOutcome) => void;
}

/**
 * Entries in the order in which they came, until they are sent.
 *
 * A batch that nothing more fits into goes out as soon as a call is free. One that has room goes out
 * when its oldest entry has lingered, and never before the end of the loop's turn: what is sent in
 * one turn goes together.
 */
export class SendBuffer {
  readonly #sendBatch: SendBatch;
  readonly #options: ResolvedProducerOptions;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  readonly #calls = new Set<Promise<void>>();
  #hurries = 0;
  #disarm: CancelTimer | undefined;

  constructor(sendBatch: SendBatch, options: ResolvedProducerOptions, clock: Clock) {
    this.#sendBatch = sendBatch;
    this.#options = options;
    this.#clock = clock;
  }

  /** Takes an entry, and tells how its sending ended. */
  add(entry: MessageEntry, end: (outcome: SendOutcome) => void): void {
    const { bytes, groupId } = entry;
    this.#waiting.push({ entry, bytes, groupId, addedAtMs: this.#clock.monotonicMs(), end });
    this.#sendReady(false);
  }

  /** Until `done` has ended nothing lingers, whatever comes in meanwhile. */
  async hurry<Result>(done: Promise<Result>): Promise<Result> {
    this.#hurries += 1;
    this.#arm();
    try {
      return await done;
    } finally {
      this.#hurries -= 1;
    }
  }

  /** Forgets what waits, and resolves when the calls that are open have ended. */
  async drop(): Promise<void> {
    this.#waiting.length = 0;
    this.#arm();
    await Promise.all(this.#calls);
  }

  get #hasFreeCall(): boolean {
    return this.#calls.size < this.#options.parallelCalls;
  }

  /** @param isTurnOver - whether batches with room may go, too, if they have lingered */
  #sendReady(isTurnOver: boolean): void {
    while (this.#hasFreeCall && this.#waiting.length > 0) {
      const length = batchLength(this.#candidates(), this.#options.fifo);
      const isClosed = length === MAX_BATCH_ENTRIES || length < this.#waiting.length;
      if (!isClosed && !(isTurnOver && this.#lingerLeftMs() <= 0)) break;
      const call = this.#send(this.#waiting.splice(0, length));
      this.#calls.add(call);
      void call.finally(() => this.#calls.delete(call)).then(() => this.#sendReady(false));
    }
    this.#arm();
  }

  #candidates(): readonly Waiting[] {
    return this.#waiting.slice(0, MAX_BATCH_ENTRIES + 1);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const outcomes = await this.#sendBatch(batch.map(({ entry }) => entry));
    for (const [index, { end }] of batch.entries()) end(outcomes[index] as SendOutcome);
  }

  #lingerLeftMs(): number {
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#hurries > 0) return 0;
    return oldest.addedAtMs + this.#options.lingerMs - this.#clock.monotonicMs();
  }

  /** One timer, for the oldest entry; none while all calls are open, for their end looks again. */
  #arm(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    if (this.#waiting.length === 0 || !this.#hasFreeCall) return;
    const wake = () => {
      this.#disarm = undefined;
      this.#sendReady(true);
    };
    const delayMs = this.#lingerLeftMs();
    if (delayMs > 0) {
      this.#disarm = this.#clock.schedule(delayMs, wake);
    } else {
      const turn = setImmediate(wake);
      this.#disarm = () => clearImmediate(turn);
    }
  }
}
