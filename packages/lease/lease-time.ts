/** What is known of one lease's time besides its state: when SQS shows the message, and who says so. */

import { type Clock, type Moment, now } from "@leasehold/clock";
import type { Arrival } from "./arrival.ts";
import type { LeaseTimes } from "./extension-plan.ts";
import type { KeptTerm, LeaseKeeper } from "./lease-keeper.ts";
import type { CallAnswer } from "./lease-queue.ts";
import { later, moved } from "./lease-term.ts";
import type { ResolvedLeaseOptions } from "./options.ts";

/** Kept by the lease itself, or by a keeper in another thread, whose word then counts. */
export class LeaseTime {
  readonly claimedAt: Moment;
  readonly #clock: Clock;
  readonly #options: ResolvedLeaseOptions;
  #lastSentAt: Moment;
  #visibleBy: Moment;
  #keeper: LeaseKeeper | undefined;
  /** The newest word of the keeper that has been taken over. */
  #heard: KeptTerm | undefined;

  constructor(
    { claimedAt, sentAt, answeredAt }: Arrival,
    clock: Clock,
    options: ResolvedLeaseOptions,
  ) {
    this.claimedAt = claimedAt;
    this.#clock = clock;
    this.#options = options;
    this.#lastSentAt = sentAt;
    this.#visibleBy = moved(answeredAt, options.visibilityTimeoutMs);
  }

  /** The upper bound of the lease's expiry, as far as it has been taken over from a keeper. */
  get visibleBy(): Moment {
    return this.#visibleBy;
  }

  /** @param validUntil - as the lease's state has it */
  times(validUntil: Moment): LeaseTimes {
    const own = { lastSentAt: this.#lastSentAt, validUntil, visibleBy: this.#visibleBy };
    return { claimedAt: this.claimedAt, ...(this.#keeper?.read() ?? own) };
  }

  /** The message was received again under a newer handle. */
  adopt(receiptHandle: string, answeredAt: Moment): void {
    const visibleBy = moved(answeredAt, this.#options.visibilityTimeoutMs);
    this.#visibleBy = later(this.#visibleBy, visibleBy);
    this.#keeper?.adopt(receiptHandle, visibleBy);
  }

  entrust(keeper: LeaseKeeper | undefined): void {
    this.#keeper = keeper;
    this.#heard = keeper?.read();
  }

  /** Takes over the newest word of the keeper, when there is one that has not been heard. */
  hear(): KeptTerm | undefined {
    const term = this.#keeper?.read();
    if (term === undefined || term === this.#heard) return undefined;
    this.#heard = term;
    this.#lastSentAt = term.lastSentAt;
    this.#visibleBy = term.visibleBy;
    return term;
  }

  /** An extension succeeded. */
  extended(sentAt: Moment): void {
    this.#lastSentAt = sentAt;
  }

  /** A change of visibility, sent at `sentAt`, was answered. */
  note(answer: CallAnswer, sentAt: Moment, visibilityTimeoutMs: number): void {
    if (answer.kind === "ok") this.#visibleBy = moved(now(this.#clock), visibilityTimeoutMs);
    if (answer.kind !== "unknown") return;
    const latest = moved(sentAt, this.#options.callTimeoutMs + visibilityTimeoutMs);
    this.#visibleBy = later(this.#visibleBy, latest);
  }
}
