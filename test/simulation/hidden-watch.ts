/** Until when SQS itself hides each message, and who says otherwise. */

import type { RequestAnswered, RequestEntry } from "@leasehold/embedded-sqs";

/** A moment before the end of a lease its holder must not count on it any more. */
const MARGIN_MS = 1_000;
/** Time is whole milliseconds in most places. */
const ROUNDING_MS = 2;

/** The messages of one history, by what SQS has answered. */
export class HiddenWatch {
  readonly #nowMs: () => number;
  readonly #visibilityMs: number;
  readonly #hiddenUntilMs = new Map<string, number>();
  /** The handle of each message's last receive. */
  readonly #latest = new Map<string, string>();
  /** Handles that were given back, with their message. */
  readonly #givenBack = new Set<string>();

  constructor(nowMs: () => number, visibilityMs: number) {
    this.#nowMs = nowMs;
    this.#visibilityMs = visibilityMs;
  }

  /**
   * SQS has answered a request.
   * @returns messages that something was said of by a handle that had given them back
   */
  answered({ action, entries }: RequestAnswered): readonly string[] {
    return entries.flatMap((entry) => this.#entry(action, entry));
  }

  /** By how much a worker believes that it holds a message for longer than SQS hides it; 0 or more. */
  overrated(messageId: string, remainingMs: number): number {
    const hiddenUntilMs = this.#hiddenUntilMs.get(messageId);
    if (hiddenUntilMs === undefined || remainingMs <= 0) return 0;
    const believedMs = this.#nowMs() + remainingMs;
    return Math.max(0, Math.floor(believedMs - (hiddenUntilMs - MARGIN_MS) - ROUNDING_MS));
  }

  #entry(action: string, entry: RequestEntry): readonly string[] {
    const { messageId = "", receiptHandle = "", outcome, visibilityTimeoutSeconds } = entry;
    if (outcome === "received" && action === "ReceiveMessage") {
      this.#hiddenUntilMs.set(messageId, this.#nowMs() + this.#visibilityMs);
      this.#latest.set(messageId, receiptHandle);
      return [];
    }
    const isTaken = outcome === "changed" || outcome === "no-effect";
    if (visibilityTimeoutSeconds === undefined || !isTaken) return [];
    // A poll that waits has a released message before the release itself is answered.
    if (this.#latest.get(messageId) === receiptHandle) {
      this.#hiddenUntilMs.set(messageId, this.#nowMs() + visibilityTimeoutSeconds * 1_000);
    }
    const isAgain = this.#givenBack.has(receiptHandle);
    if (visibilityTimeoutSeconds === 0) this.#givenBack.add(receiptHandle);
    return isAgain ? [messageId] : [];
  }
}
