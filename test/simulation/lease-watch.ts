/** What workers may still say of the receipts that they were given, and until when messages are hidden. */

import type { LeaseRef } from "@leasehold/lease";
import type { ModelCall } from "../support/model-lease-queue.ts";

/** What is known of one receipt, by its handle. */
interface Receipt {
  readonly worker: string;
  readonly messageId: string;
  readonly receiveCount: number;
  /** Why its holder may say nothing of it any more. */
  silentSince?: "lost" | "lapsing";
  discards: number;
  /** It was given back, and nobody knows whether SQS has heard it. */
  isPerhapsReleased: boolean;
  /** When the message is visible again if nothing more is said of it. */
  visibleAtMs: number;
}

/** A rule that a call has broken, and of which message. */
export interface Breach {
  readonly messageId: string;
  readonly rule: string;
}

/** The receipts of one history. */
export class LeaseWatch {
  readonly #receipts = new Map<string, Receipt>();
  readonly #nowMs: () => number;
  readonly #visibilityMs: number;

  constructor(nowMs: () => number, visibilityMs: number) {
    this.#nowMs = nowMs;
    this.#visibilityMs = visibilityMs;
  }

  received(
    worker: string,
    handle: string,
    which: Pick<Receipt, "messageId" | "receiveCount">,
  ): void {
    const visibleAtMs = this.#nowMs() + this.#visibilityMs;
    const known = { discards: 0, isPerhapsReleased: false, visibleAtMs };
    this.#receipts.set(handle, { worker, ...which, ...known });
  }

  /** A release got no answer that says what became of it. */
  perhapsReleased(handle: string): void {
    const receipt = this.#receipts.get(handle);
    if (receipt !== undefined) receipt.isPerhapsReleased = true;
  }

  /** A lease has ended without its holder, who must be silent from now on. */
  silence({ messageId, receiveCount }: LeaseRef, why: "lost" | "lapsing"): void {
    for (const receipt of this.#receipts.values()) {
      const isIt = receipt.messageId === messageId && receipt.receiveCount === receiveCount;
      if (isIt) receipt.silentSince ??= why;
    }
  }

  /**
   * A call leaves a worker.
   * @param onDiscard - hears of the one delete that a lost lease allows, if its job is done
   */
  called(call: ModelCall, onDiscard: (messageId: string) => void): readonly Breach[] {
    return call.receiptHandles.flatMap((handle, index) => {
      const receipt = this.#receipts.get(handle);
      if (receipt === undefined) return [];
      const visibilityMs = call.visibilityTimeoutsMs[index];
      if (visibilityMs !== undefined) receipt.visibleAtMs = this.#nowMs() + visibilityMs;
      const { messageId } = receipt;
      return rulesBroken(call.kind, receipt, onDiscard).map((rule) => ({ messageId, rule }));
    });
  }

  /** Messages that a worker holds beyond a moment, and by how much. */
  heldBeyond(
    worker: string,
    latestMs: number,
  ): readonly { readonly messageId: string; readonly byMs: number }[] {
    return [...this.#receipts.values()]
      .filter((one) => one.worker === worker && one.silentSince === undefined)
      .filter((one) => one.visibleAtMs > latestMs)
      .map(({ messageId, visibleAtMs }) => ({
        messageId,
        byMs: Math.round(visibleAtMs - latestMs),
      }));
  }
}

function rulesBroken(
  kind: ModelCall["kind"],
  receipt: Receipt,
  onDiscard: (messageId: string) => void,
): readonly string[] {
  const broken: string[] = [];
  if (kind === "changeVisibility" && receipt.isPerhapsReleased) {
    broken.push("repeats a release that may have been applied");
  }
  const { silentSince } = receipt;
  if (silentSince === undefined) return broken;
  if (kind === "changeVisibility" || silentSince === "lapsing") {
    return [...broken, `calls ${kind} on a ${silentSince} lease`];
  }
  if (kind !== "delete") return broken;
  receipt.discards += 1;
  if (receipt.discards > 1) return [...broken, "deletes twice on a lost lease"];
  onDiscard(receipt.messageId);
  return broken;
}
