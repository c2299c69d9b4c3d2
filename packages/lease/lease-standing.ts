/** Where one lease stands, in state and time, and the one gate through which it moves on. */

import { type Clock, elapsedMs, now } from "@leasehold/clock";
import type { Arrival } from "./arrival.ts";
import type { LeaseTimes } from "./extension-plan.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { isOpen, type LeaseState, type LeaseStateEvent, transition } from "./lease-state.ts";
import { leftMs, moved } from "./lease-term.ts";
import { LeaseTime } from "./lease-time.ts";
import { MAX_HOLD_MS } from "./limits.ts";
import type { ResolvedLeaseOptions } from "./options.ts";

/** Kept back of the twelve hours, to stop a run and release its message. */
const STOP_MARGIN_MS = 30_000;

/** What a standing is made of. */
export interface LeaseStandingParts {
  readonly clock: Clock;
  readonly options: ResolvedLeaseOptions;
  /** The lease has ended: what it was before, and why, for one that came to lapse. */
  readonly onEnd: (before: LeaseState, code: string) => void;
}

/** The state of one lease and its time, wherever that is kept. */
export class LeaseStanding {
  readonly time: LeaseTime;
  readonly #parts: LeaseStandingParts;
  readonly #onExtended = new Set<() => void>();
  #state: LeaseState;

  constructor(arrival: Arrival, parts: LeaseStandingParts) {
    const { visibilityTimeoutMs, leaseMarginMs } = parts.options;
    this.#parts = parts;
    this.time = new LeaseTime(arrival, parts.clock, parts.options);
    const validUntil = moved(arrival.sentAt, visibilityTimeoutMs - leaseMarginMs);
    this.#state = { kind: "received", validUntil };
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** What its extensions are planned by; `undefined` once it has ended. */
  get times(): LeaseTimes | undefined {
    return isOpen(this.#state) ? this.time.times(this.#state.validUntil) : undefined;
  }

  /** Whether the call of its ending is out: its answer decides then, not the clock. */
  get isEndingOut(): boolean {
    return isOpen(this.#state) && "heldUntil" in this.#state;
  }

  /** Whether its ending is decided and not over. */
  get isEnding(): boolean {
    return this.#state.kind === "settling" || this.#state.kind === "releasing";
  }

  /** Whether its message was deleted, and SQS has confirmed it. */
  get isDeleted(): boolean {
    return this.#state.kind === "done" && this.#state.as !== "retry";
  }

  /** Whether its delete is not confirmed yet. */
  get isUnconfirmedAck(): boolean {
    return this.#state.kind === "settling" && this.#state.as !== "retry";
  }

  remainingMs(): number {
    const { times } = this;
    return times === undefined ? 0 : Math.max(0, leftMs(times.validUntil, now(this.#parts.clock)));
  }

  expiresInMs(): number {
    if (this.#state.kind === "lost" || this.isDeleted) return 0;
    const { monotonicMs } = this.times?.visibleBy ?? this.time.visibleBy;
    return Math.max(0, monotonicMs - this.#parts.clock.monotonicMs());
  }

  holdRemainingMs(): number {
    const { clock, options } = this.#parts;
    const holdMs = Math.min(options.maxHoldMs, MAX_HOLD_MS - STOP_MARGIN_MS);
    return Math.max(0, holdMs - elapsedMs(clock, this.time.claimedAt));
  }

  /** Hears of each extension that was confirmed; returns how to stop hearing. */
  onExtended(listener: () => void): () => void {
    // A wrapper of its own, so that the same function may listen twice.
    const own = () => listener();
    this.#onExtended.add(own);
    return () => void this.#onExtended.delete(own);
  }

  /**
   * Leaves its extensions to another thread, whose word on its time counts from now on; without one
   * it takes them back, and with them all that was proved meanwhile.
   */
  entrust(keeper?: LeaseKeeper): void {
    this.#catchUp();
    this.time.entrust(keeper);
  }

  /**
   * Moves the lease on: the one gate through which every change of its state goes. An answer that
   * comes after the end changes nothing.
   * @param code - why, for a lease that may come to lapse by it
   */
  apply(event: LeaseStateEvent, code = ""): LeaseState {
    this.#catchUp();
    return this.#move(event, code);
  }

  /** Before anything is decided: this thread may have been blocked while the keeper went on. */
  #catchUp(): void {
    const term = this.time.hear();
    if (term === undefined) return;
    const { validUntil, verdict } = term;
    this.#move({ kind: verdict === "late" ? "extended" : "proved", validUntil });
    // While a delete is on its way "not found" may be its work: the delete's answer decides.
    if (verdict === "refused" && !this.isUnconfirmedAck) this.#move({ kind: "refused" });
  }

  #move(event: LeaseStateEvent, code = ""): LeaseState {
    if (!isOpen(this.#state)) return this.#state;
    const before = this.#state;
    this.#state = transition(before, event, now(this.#parts.clock));
    const isExtended = event.kind === "extended" || event.kind === "proved";
    if (!isOpen(this.#state)) this.#parts.onEnd(before, code);
    else if (isExtended) for (const tell of [...this.#onExtended]) tell();
    return this.#state;
  }
}
