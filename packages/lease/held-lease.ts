/** One received message while this process holds it: its state, its time, and who hears of it. */

import { elapsedMs, type Moment, now } from "@leasehold/clock";
import type { Arrival } from "./arrival.ts";
import { LeaseLostError, LeaseTransitionError } from "./errors.ts";
import type { ExtendedLease } from "./extended-lease.ts";
import type { LeaseTimes } from "./extension-plan.ts";
import type { Place, Turn } from "./fifo-groups.ts";
import type { DeadLetterReason, EndOutcome, Lease } from "./lease.ts";
import { endingEvent, endOutcome, type LeaseEnding } from "./lease-ending.ts";
import type { LeaseRef, ReleaseClass } from "./lease-event.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { CallAnswer, ReceivedMessage } from "./lease-queue.ts";
import {
  isOpen,
  type LeaseState,
  type LeaseStateEvent,
  type LeaseStateKind,
  transition,
} from "./lease-state.ts";
import type { Surroundings } from "./lease-surroundings.ts";
import { leftMs, moved } from "./lease-term.ts";
import { LeaseTime } from "./lease-time.ts";
import { MAX_HOLD_MS } from "./limits.ts";

/** What every lease of one queue shares. */
export type LeaseSurroundings = Surroundings<HeldLease>;

/** Kept back of the twelve hours, to stop a run and release its message. */
const STOP_MARGIN_MS = 30_000;

/** The lease that the rest of the package works with; the outside sees it as `Lease`. */
export class HeldLease implements Lease, ExtendedLease {
  readonly ref: LeaseRef;
  readonly message: ReceivedMessage;
  readonly canDeadLetter: boolean;
  readonly place: Place | undefined;
  /** Resolves once with how the lease ended. */
  readonly ended: Promise<EndOutcome>;
  readonly #shared: LeaseSurroundings;
  readonly #time: LeaseTime;
  readonly #lost = new AbortController();
  readonly #ended = Promise.withResolvers<EndOutcome>();
  #state: LeaseState;
  #receiptHandle: string;
  #ending: LeaseEnding | undefined;
  /** What the last call of its ending asked for. */
  #sent: { readonly receiptHandle: string; readonly delayMs: number } | undefined;
  #hasRun = false;
  #isRunOver = false;
  #isSentBack = false;

  constructor(arrival: Arrival, shared: LeaseSurroundings) {
    const { visibilityTimeoutMs, leaseMarginMs } = shared.options;
    const { message, receiptHandle } = arrival.receipt;
    this.ended = this.#ended.promise;
    this.#shared = shared;
    this.#receiptHandle = receiptHandle;
    this.#time = new LeaseTime(arrival, shared.clock, shared.options);
    this.message = message;
    this.place = arrival.place;
    this.canDeadLetter = shared.hasDeadLetterQueue;
    this.ref = Object.freeze({
      queue: shared.queueName,
      messageId: message.messageId,
      receiveCount: message.receiveCount,
    });
    const validUntil = moved(arrival.sentAt, visibilityTimeoutMs - leaseMarginMs);
    this.#state = { kind: "received", validUntil };
  }

  get claimedAt(): Moment {
    return this.#time.claimedAt;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get state(): LeaseStateKind {
    return this.#state.kind;
  }

  get isOpen(): boolean {
    return isOpen(this.#state);
  }

  /** What its extensions are planned by; `undefined` once it has ended. */
  get times(): LeaseTimes | undefined {
    return isOpen(this.#state) ? this.#time.times(this.#state.validUntil) : undefined;
  }

  /** The newest handle of this message; it changes when the message is received again. */
  get receiptHandle(): string {
    return this.#receiptHandle;
  }

  /** Whether nothing works on the message any more, so that its next run may start. */
  get isOver(): boolean {
    return !this.isOpen && (this.#isRunOver || !this.#hasRun);
  }

  /** Whether the call of its ending is out: its answer decides then, not the clock. */
  get isEndingOut(): boolean {
    return isOpen(this.#state) && "heldUntil" in this.#state;
  }

  /** Whether the ending went by the newest handle, so that it ended every receipt of the message. */
  get hasEndedAllReceipts(): boolean {
    return this.#state.kind !== "lost" && this.#sent?.receiptHandle === this.#receiptHandle;
  }

  /** Whether its ending is decided and not over. */
  get isEnding(): boolean {
    return this.#state.kind === "settling" || this.#state.kind === "releasing";
  }

  /** Whether its message was deleted, and SQS has confirmed it. */
  get isDeleted(): boolean {
    return this.#state.kind === "done" && this.#state.as !== "retry";
  }

  get turn(): Promise<Turn> | undefined {
    return this.place?.standing === "first" ? undefined : this.place?.turn;
  }

  /** Whether its delete is not confirmed yet. */
  get isUnconfirmedAck(): boolean {
    return this.#state.kind === "settling" && this.#state.as !== "retry";
  }

  remainingMs(): number {
    const { times } = this;
    return times === undefined ? 0 : Math.max(0, leftMs(times.validUntil, now(this.#shared.clock)));
  }

  expiresInMs(): number {
    if (this.#state.kind === "lost" || this.isDeleted) return 0;
    const { monotonicMs } = this.times?.visibleBy ?? this.#time.visibleBy;
    return Math.max(0, monotonicMs - this.#shared.clock.monotonicMs());
  }

  holdRemainingMs(): number {
    const holdMs = Math.min(this.#shared.options.maxHoldMs, MAX_HOLD_MS - STOP_MARGIN_MS);
    return Math.max(0, holdMs - elapsedMs(this.#shared.clock, this.claimedAt));
  }

  assertHeld(): void {
    const state = this.apply({ kind: "tick" });
    if (state.kind === "lost") throw new LeaseLostError(this.ref, state.cause);
    if (this.remainingMs() === 0) throw new LeaseLostError(this.ref, "ended");
  }

  start(): void {
    this.assertHeld();
    this.#start();
    this.#hasRun = true;
  }

  ack(): Promise<EndOutcome> {
    return this.#end({ kind: "ack" });
  }

  retry(delayMs: number): Promise<EndOutcome> {
    return this.#end({ kind: "retry", delayMs });
  }

  release(delayMs: number, releaseClass: ReleaseClass): Promise<EndOutcome> {
    return this.#end({ kind: "release", delayMs, releaseClass });
  }

  deadLetter(reason: DeadLetterReason, refusedDelayMs?: number): Promise<EndOutcome> {
    return this.#end({ kind: "dead-letter", reason, refusedDelayMs });
  }

  /** Its copy is refused for good: what was to be a dead letter is retried after `delayMs`. */
  retryInstead(delayMs: number): void {
    if (!isOpen(this.apply({ kind: "undeliverable" }))) return;
    this.#ending = { kind: "retry", delayMs };
    this.#shared.settle(this, this.#ending);
  }

  /** Its group has ended before it. Whoever releases it as well is told how this went. */
  sendBack(): void {
    this.#isSentBack = true;
    void this.release(0, "unstarted");
  }

  /**
   * The message was received again: its newest handle serves from now on. What the new receipt
   * promises is for the next run; this one's `validUntil` grows only by its own extensions.
   */
  adopt({ receipt, answeredAt }: Arrival): void {
    this.#receiptHandle = receipt.receiptHandle;
    this.#time.adopt(receipt.receiptHandle, answeredAt);
  }

  /**
   * Leaves its extensions to another thread, whose word on its time counts from now on; without one
   * it takes them back, and with them all that was proved meanwhile.
   */
  entrust(keeper?: LeaseKeeper): void {
    this.#catchUp();
    this.#time.entrust(keeper);
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
    const term = this.#time.hear();
    if (term === undefined) return;
    const { validUntil, verdict } = term;
    this.#move({ kind: verdict === "late" ? "extended" : "proved", validUntil });
    // While a delete is on its way "not found" may be its work: the delete's answer decides.
    if (verdict === "refused" && !this.isUnconfirmedAck) this.#move({ kind: "refused" });
  }

  #move(event: LeaseStateEvent, code = ""): LeaseState {
    if (!this.isOpen) return this.#state;
    const before = this.#state;
    this.#state = transition(before, event, now(this.#shared.clock));
    if (!this.isOpen) this.#finish(before, code);
    return this.#state;
  }

  /** The call of its ending leaves now; `delayMs` for one that makes the message visible then. */
  send(delayMs?: number): void {
    const { clock, options } = this.#shared;
    this.#sent = { receiptHandle: this.#receiptHandle, delayMs: delayMs ?? 0 };
    if (delayMs === undefined) return void this.apply({ kind: "sent" });
    const validUntil = moved(now(clock), delayMs - options.leaseMarginMs);
    this.apply({ kind: "sent", validUntil });
  }

  /** A change of visibility, sent at `sentAt`, was answered: keeps the upper bound of its expiry. */
  noteVisibility(answer: CallAnswer, sentAt: Moment, visibilityTimeoutMs: number): void {
    this.#time.note(answer, sentAt, visibilityTimeoutMs);
  }

  /** An extension, sent at `sentAt`, succeeded. */
  extendTo(sentAt: Moment, visibilityTimeoutMs: number): void {
    const reachMs = visibilityTimeoutMs - this.#shared.options.leaseMarginMs;
    this.#time.extended(sentAt);
    this.apply({ kind: "extended", validUntil: moved(sentAt, reachMs) });
  }

  async #end(ending: LeaseEnding): Promise<EndOutcome> {
    this.#isRunOver = true;
    if (this.#state.kind === "received" && ending.kind !== "release") this.#start();
    const before = this.#state;
    const state = this.apply(
      ending.kind === "release" ? { kind: "release" } : { kind: "settle", as: ending.kind },
    );
    if (state === before) {
      if (!this.isOpen) this.#shared.onChange(this);
      if (this.#isSentBack && ending.kind === "release") return this.ended;
      const isDecided = this.#ending !== undefined && state.kind !== "lost";
      return isDecided ? { kind: "superseded" } : endOutcome(state, this.expiresInMs());
    }
    if (this.isOpen) {
      this.#ending = ending;
      this.#shared.settle(this, ending);
    }
    return this.ended;
  }

  #start(): void {
    if (this.turn !== undefined) throw new LeaseTransitionError("waiting for its turn", "start");
    this.apply({ kind: "start" });
  }

  #finish(before: LeaseState, code: string): void {
    const visibleInMs = this.expiresInMs();
    const event = endingEvent({
      ref: this.ref,
      before,
      state: this.#state,
      ending: this.#ending,
      delayMs: this.#sent?.delayMs ?? 0,
      heldMs: elapsedMs(this.#shared.clock, this.claimedAt),
      visibleInMs,
      code,
    });
    if (event !== undefined) this.#shared.emit(event);
    if (this.#state.kind === "lost") {
      this.#lost.abort(new LeaseLostError(this.ref, this.#state.cause));
    }
    this.#ended.resolve(endOutcome(this.#state, visibleInMs));
    this.#shared.onChange(this);
  }
}
