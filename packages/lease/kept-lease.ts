/** A lease as the extender's thread knows it: its time, and nothing of what its run decides. */

import { type Clock, type Moment, now } from "@leasehold/clock";
import type { ExtendedLease, ExtensionEvent } from "./extended-lease.ts";
import type { PostedLease } from "./extender-post.ts";
import type { LeaseTimes } from "./extension-plan.ts";
import type { LeaseRef } from "./lease-event.ts";
import type { CallAnswer } from "./lease-queue.ts";
import { earlier, later, leftMs, moved } from "./lease-term.ts";
import type { ResolvedLeaseOptions } from "./options.ts";
import type { StoredTerm, TermSlot } from "./shared-term.ts";

/** What a kept lease is made of. */
export interface KeptLeaseParts {
  /** Its number in messages. */
  readonly id: number;
  readonly posted: PostedLease;
  readonly slot: TermSlot;
  readonly clock: Clock;
  readonly options: ResolvedLeaseOptions;
}

/**
 * Writes each change of its time to the place it shares with the main thread, and only while a call
 * for it is out. Whether the lease is over is decided there: here an expiry only means that no
 * further call fits.
 */
export class KeptLease implements ExtendedLease {
  readonly id: number;
  readonly ref: LeaseRef;
  readonly slot: TermSlot;
  readonly #claimedAt: Moment;
  readonly #clock: Clock;
  readonly #options: ResolvedLeaseOptions;
  #receiptHandle: string;
  #term: StoredTerm;

  constructor({ id, posted, slot, clock, options }: KeptLeaseParts) {
    this.id = id;
    this.ref = posted.ref;
    this.slot = slot;
    this.#claimedAt = posted.claimedAt;
    this.#clock = clock;
    this.#options = options;
    this.#receiptHandle = posted.receiptHandle;
    this.#term = slot.read();
  }

  get receiptHandle(): string {
    return this.#receiptHandle;
  }

  get isOpen(): boolean {
    return this.#term.verdict === "held";
  }

  /** The clock decides nothing here. */
  get isEndingOut(): boolean {
    return true;
  }

  /** Nobody here knows; the main thread takes a refusal for what it is. */
  get isUnconfirmedAck(): boolean {
    return false;
  }

  get times(): LeaseTimes | undefined {
    if (!this.isOpen) return undefined;
    const { lastSentAt, validUntil, visibleBy } = this.#term;
    return { claimedAt: this.#claimedAt, lastSentAt, validUntil, visibleBy };
  }

  remainingMs(): number {
    return this.isOpen ? Math.max(0, leftMs(this.#term.validUntil, now(this.#clock))) : 0;
  }

  /** A newer handle serves from now on; a refusal of the former one no longer counts. */
  adopt(receiptHandle: string, visibleBy: Moment): void {
    this.#receiptHandle = receiptHandle;
    const { verdict, handlesAdopted } = this.#term;
    this.#term = {
      ...this.#term,
      visibleBy: later(this.#term.visibleBy, visibleBy),
      verdict: verdict === "refused" ? "held" : verdict,
      handlesAdopted: handlesAdopted + 1,
    };
  }

  apply(event: ExtensionEvent): void {
    switch (event.kind) {
      case "tick":
        return;
      case "refused":
        return void this.#write({ verdict: "refused" });
      case "shortened":
        return void this.#write({ validUntil: earlier(this.#term.validUntil, event.validUntil) });
      case "restored":
        return void this.#write({ validUntil: event.validUntil });
    }
  }

  extendTo(sentAt: Moment, visibilityTimeoutMs: number): void {
    if (this.remainingMs() === 0) return void this.#write({ verdict: "late" });
    const reachMs = visibilityTimeoutMs - this.#options.leaseMarginMs;
    this.#write({ lastSentAt: sentAt, validUntil: moved(sentAt, reachMs) });
  }

  noteVisibility(answer: CallAnswer, sentAt: Moment, visibilityTimeoutMs: number): void {
    if (answer.kind === "ok") {
      this.#write({ visibleBy: moved(now(this.#clock), visibilityTimeoutMs) });
    } else if (answer.kind === "unknown") {
      const latest = moved(sentAt, this.#options.callTimeoutMs + visibilityTimeoutMs);
      this.#write({ visibleBy: later(this.#term.visibleBy, latest) });
    }
  }

  #write(change: Partial<StoredTerm>): void {
    this.#term = { ...this.#term, ...change };
    this.slot.write(this.#term);
  }
}
