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
import { LeaseStanding } from "./lease-standing.ts";
import {
  isOpen,
  type LeaseState,
  type LeaseStateEvent,
  type LeaseStateKind,
} from "./lease-state.ts";
import type { Surroundings } from "./lease-surroundings.ts";
import { moved } from "./lease-term.ts";

/** What every lease of one queue shares. */
export type LeaseSurroundings = Surroundings<HeldLease>;

/** The lease that the rest of the package works with; the outside sees it as `Lease`. */
export class HeldLease implements Lease, ExtendedLease {
  readonly ref: LeaseRef;
  readonly message: ReceivedMessage;
  readonly canDeadLetter: boolean;
  readonly place: Place | undefined;
  /** Resolves once with how the lease ended. */
  readonly ended: Promise<EndOutcome>;
  readonly #shared: LeaseSurroundings;
  readonly #standing: LeaseStanding;
  readonly #lost = new AbortController();
  readonly #ended = Promise.withResolvers<EndOutcome>();
  #receiptHandle: string;
  #ending: LeaseEnding | undefined;
  /** What the last call of its ending asked for. */
  #sent: { readonly receiptHandle: string; readonly delayMs: number } | undefined;
  #hasRun = false;
  #isRunOver = false;
  #isSentBack = false;
  #isDiscarded = false;

  constructor(arrival: Arrival, shared: LeaseSurroundings) {
    const { message, receiptHandle } = arrival.receipt;
    this.ended = this.#ended.promise;
    this.#shared = shared;
    this.#receiptHandle = receiptHandle;
    const onEnd = (before: LeaseState, code: string) => this.#finish(before, code);
    this.#standing = new LeaseStanding(arrival, { ...shared, onEnd });
    this.message = message;
    this.place = arrival.place;
    this.canDeadLetter = shared.hasDeadLetterQueue;
    this.ref = Object.freeze({
      queue: shared.queueName,
      messageId: message.messageId,
      receiveCount: message.receiveCount,
    });
  }

  get claimedAt(): Moment {
    return this.#standing.time.claimedAt;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get state(): LeaseStateKind {
    return this.#standing.state.kind;
  }

  get isOpen(): boolean {
    return isOpen(this.#standing.state);
  }

  /** What its extensions are planned by; `undefined` once it has ended. */
  get times(): LeaseTimes | undefined {
    return this.#standing.times;
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
    return this.#standing.isEndingOut;
  }

  /** Whether the ending went by the newest handle, so that it ended every receipt of the message. */
  get hasEndedAllReceipts(): boolean {
    return (
      this.#standing.state.kind !== "lost" && this.#sent?.receiptHandle === this.#receiptHandle
    );
  }

  /** Whether its ending is decided and not over. */
  get isEnding(): boolean {
    return this.#standing.isEnding;
  }

  /** Whether its message was deleted, and SQS has confirmed it. */
  get isDeleted(): boolean {
    return this.#standing.isDeleted;
  }

  get turn(): Promise<Turn> | undefined {
    return this.place?.standing === "first" ? undefined : this.place?.turn;
  }

  /** Whether its delete is not confirmed yet. */
  get isUnconfirmedAck(): boolean {
    return this.#standing.isUnconfirmedAck;
  }

  remainingMs(): number {
    return this.#standing.remainingMs();
  }

  expiresInMs(): number {
    return this.#standing.expiresInMs();
  }

  holdRemainingMs(): number {
    return this.#standing.holdRemainingMs();
  }

  assertHeld(): void {
    const state = this.apply({ kind: "tick" });
    if (state.kind === "lost") throw new LeaseLostError(this.ref, state.cause);
    if (this.remainingMs() === 0) throw new LeaseLostError(this.ref, "ended");
  }

  async reach(forMs: number): Promise<boolean> {
    if (this.remainingMs() < forMs) await this.#shared.reach(this, forMs);
    return this.remainingMs() >= forMs;
  }

  onExtended(listener: () => void): () => void {
    return this.#standing.onExtended(listener);
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

  async letGo(code: string): Promise<EndOutcome> {
    this.#isRunOver = true;
    this.apply({ kind: "tick" });
    if (!this.isOpen || this.isEnding) return this.#missed();
    this.#ending = { kind: "let-go" };
    this.apply({ kind: "let-go" }, code);
    return this.ended;
  }

  async discard(): Promise<void> {
    if (this.#standing.state.kind !== "lost" || this.#isDiscarded) return;
    this.#isDiscarded = true;
    await this.#shared.discard(this);
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
    this.#standing.time.adopt(receipt.receiptHandle, answeredAt);
  }

  /** Leaves its extensions to another thread, or takes them back. */
  entrust(keeper?: LeaseKeeper): void {
    this.#standing.entrust(keeper);
  }

  /** Moves the lease on; see `LeaseStanding`. */
  apply(event: LeaseStateEvent, code = ""): LeaseState {
    return this.#standing.apply(event, code);
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
    this.#standing.time.note(answer, sentAt, visibilityTimeoutMs);
  }

  /** An extension, sent at `sentAt`, succeeded. */
  extendTo(sentAt: Moment, visibilityTimeoutMs: number): void {
    const reachMs = visibilityTimeoutMs - this.#shared.options.leaseMarginMs;
    this.#standing.time.extended(sentAt);
    this.apply({ kind: "extended", validUntil: moved(sentAt, reachMs) });
  }

  async #end(ending: Exclude<LeaseEnding, { kind: "let-go" }>): Promise<EndOutcome> {
    this.#isRunOver = true;
    if (this.#standing.state.kind === "received" && ending.kind !== "release") this.#start();
    const before = this.#standing.state;
    const state = this.apply(
      ending.kind === "release" ? { kind: "release" } : { kind: "settle", as: ending.kind },
    );
    if (state === before) {
      const missed = this.#missed();
      return this.#isSentBack && ending.kind === "release" ? this.ended : missed;
    }
    if (this.isOpen) {
      this.#ending = ending;
      this.#shared.settle(this, ending);
    }
    return this.ended;
  }

  /** Another ending came first, or the lease had ended. */
  #missed(): EndOutcome {
    if (!this.isOpen) this.#shared.onChange(this);
    const isDecided = this.#ending !== undefined && this.#standing.state.kind !== "lost";
    return isDecided
      ? { kind: "superseded" }
      : endOutcome(this.#standing.state, this.expiresInMs());
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
      state: this.#standing.state,
      ending: this.#ending,
      delayMs: this.#sent?.delayMs ?? 0,
      heldMs: elapsedMs(this.#shared.clock, this.claimedAt),
      visibleInMs,
      code,
    });
    if (event !== undefined) this.#shared.emit(event);
    if (this.#standing.state.kind === "lost") {
      this.#lost.abort(new LeaseLostError(this.ref, this.#standing.state.cause));
    }
    this.#ended.resolve(endOutcome(this.#standing.state, visibleInMs));
    this.#shared.onChange(this);
  }
}
