/** A lease queue that is claimed from only once all that the service needs has been found. */

import {
  type CallAnswer,
  ClaimFailedError,
  type DeadLetterCopy,
  type LeaseQueue,
  type Receipt,
  type ReceiveRequest,
  type VisibilityChange,
} from "@leasehold/lease";
import { rememberSuccess } from "./remember-success.ts";

/** What a gate needs to know before it opens. */
export interface GateParts {
  readonly name: string;
  readonly fifo: boolean;
  /** The queue behind the gate; whatever it throws is told as a claim that failed. */
  readonly open: () => Promise<LeaseQueue>;
}

/**
 * Puts a gate before a queue.
 *
 * What a service depends on (the queue's URL, its dead-letter queue, tables) is looked for as part
 * of a claim. So the claim loop's backoff, patience, events and exit code 69 hold for it as well, a
 * signal ends it, and nothing is claimed that could not be worked.
 */
export function gatedLeaseQueue(parts: GateParts): LeaseQueue {
  return new GatedLeaseQueue(parts);
}

class GatedLeaseQueue implements LeaseQueue {
  readonly name: string;
  readonly fifo: boolean;
  /** Every queue of a contract has one. */
  readonly hasDeadLetterQueue = true;
  readonly #open: () => Promise<LeaseQueue>;
  #url: string | undefined;

  constructor({ name, fifo, open }: GateParts) {
    this.name = name;
    this.fifo = fifo;
    this.#open = rememberSuccess(open);
  }

  get url(): string | undefined {
    return this.#url;
  }

  async receive(request: ReceiveRequest): Promise<readonly Receipt[]> {
    let queue: LeaseQueue;
    try {
      queue = await this.#open();
      this.#url = queue.url;
    } catch (error) {
      throw claimFailed(this.name, error);
    }
    return await queue.receive(request);
  }

  async changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]> {
    return await (await this.#open()).changeVisibility(entries);
  }

  async delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]> {
    return await (await this.#open()).delete(receiptHandles);
  }

  async deadLetter(copy: DeadLetterCopy): Promise<CallAnswer> {
    return await (await this.#open()).deadLetter(copy);
  }
}

/** May pass: queues and tables are often created in the same deploy that starts their workers. */
function claimFailed(queue: string, cause: unknown): ClaimFailedError {
  const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
  const reason = cause instanceof Error && "reason" in cause ? String(cause.reason) : name;
  return new ClaimFailedError({ queue, reason, retryable: true, detail: message, cause });
}
