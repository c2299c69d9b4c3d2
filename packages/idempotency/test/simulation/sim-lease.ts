/** The lease of one delivery in a simulation: extended while it is kept, silent once it is lost. */

import type { EffectSurroundings, MessageCopy } from "@leasehold/job";
import type { SimProcess } from "../../../../test/support/sim/sim-process.ts";
import type { SimMessage, SimQueue } from "./sim-queue.ts";

const VISIBILITY_MS = 30_000;
const EXTEND_EVERY_MS = 10_000;
const MARGIN_MS = 1_000;
const CALL_MS = 5;

/** A lease by the rules of the lease package, without its machinery. */
export class SimLease {
  readonly process: SimProcess;
  readonly #queue: SimQueue;
  readonly #message: SimMessage;
  readonly #lost = new AbortController();
  #validUntilMs: number;
  #isOver = false;

  constructor(process: SimProcess, queue: SimQueue, message: SimMessage) {
    this.process = process;
    this.#queue = queue;
    this.#message = message;
    this.#validUntilMs = process.monotonicMs() + VISIBILITY_MS - MARGIN_MS;
  }

  surroundings(message: MessageCopy): EffectSurroundings {
    return {
      leaseUntilMs: () => this.process.wallMs() + this.#remainingMs(),
      leaseRemainingMs: () => this.#remainingMs(),
      reach: (forMs) => this.#reach(forMs),
      drainRemainingMs: () => undefined,
      signal: this.#lost.signal,
      copyMessage: () => message,
      createdAtMs: this.process.wallMs(),
      payload: { amount: 7 },
    };
  }

  /** Extends it from now on, and tells of each extension. */
  keep(extended: (leaseUntilMs: number) => void): void {
    this.process.schedule(EXTEND_EVERY_MS, () => {
      if (this.#isOver) return;
      if (this.#remainingMs() === 0) return this.#lose();
      void this.#extend(VISIBILITY_MS).then(() => {
        extended(this.process.wallMs() + this.#remainingMs());
        this.keep(extended);
      });
    });
  }

  async release(delayMs: number): Promise<void> {
    await this.#end(() => this.#queue.changeVisibility(this.#message, Math.max(0, delayMs)));
  }

  /** Whether it was deleted, by a lease that was held. */
  async delete(): Promise<boolean> {
    return await this.#end(() => {
      this.#message.isDeleted = true;
    });
  }

  /** No call at all. */
  drop(): void {
    this.#isOver = true;
  }

  async #end(call: () => void): Promise<boolean> {
    this.#isOver = true;
    await this.process.sleep(CALL_MS);
    if (this.#remainingMs() === 0) return false;
    call();
    return true;
  }

  async #reach(forMs: number): Promise<boolean> {
    if (this.#remainingMs() >= forMs) return true;
    if (this.#remainingMs() > 0) await this.#extend(Math.max(VISIBILITY_MS, forMs + MARGIN_MS));
    return this.#remainingMs() >= forMs;
  }

  async #extend(visibilityMs: number): Promise<void> {
    const sentAtMs = this.process.monotonicMs();
    this.#queue.changeVisibility(this.#message, visibilityMs);
    await this.process.sleep(CALL_MS);
    if (this.#remainingMs() > 0) this.#validUntilMs = sentAtMs + visibilityMs - MARGIN_MS;
  }

  #lose(): void {
    this.#isOver = true;
    this.#lost.abort(new Error("lease lost"));
  }

  #remainingMs(): number {
    return Math.max(0, this.#validUntilMs - this.process.monotonicMs());
  }
}
