/** One queue's leases, extended by another thread; by this one when that thread fails. */

import { type CancelTimer, type Clock, now } from "@leasehold/clock";
import type { Extender, TaperResult } from "./extender.ts";
import type { FromExtender, ToExtender } from "./extender-post.ts";
import type { HeldLease } from "./held-lease.ts";
import { LeaseExtender, type LeaseExtenderParts } from "./lease-extender.ts";
import { SharedKeeper } from "./shared-keeper.ts";
import type { LentSlot, SlotPool } from "./slot-pool.ts";

/** What the near side of a thread works with: all that an extender here needs, to stand in for it. */
export interface ThreadExtenderParts extends LeaseExtenderParts<HeldLease> {
  /** Its number in messages. */
  readonly queue: number;
  /** Where the queue is, once that is known. */
  readonly queueUrl: () => string | undefined;
  readonly slots: SlotPool;
  readonly post: (message: ToExtender) => void;
  readonly onClose: () => void;
}

/** Why a thread does not extend. */
export interface ThreadFailure {
  readonly code: string;
  readonly message: string;
}

/** A lease that the thread extends. */
interface Entrusted {
  readonly id: number;
  readonly lease: HeldLease;
  readonly lent: LentSlot;
  /** Present once it is to be stopped; resolves when no call is out. */
  stopped?: PromiseWithResolvers<void>;
}

interface AwaitedDrain extends PromiseWithResolvers<TaperResult> {
  readonly targetAtMs: number;
}

/** How soon time that passed on the wall clock only is noticed (a suspended VM): no timer rings then. */
const LONGEST_SLEEP_MS = 1_000;
/** What the way to the thread and back may take. */
const THREAD_SLACK_MS = 250;
const NO_URL: ThreadFailure = {
  code: "NoQueueUrl",
  message: "the queue does not say where it is, so no other thread can call it",
};

/** Decides on this thread what the other one proves: when a lease is over, and when to stop. */
export class ThreadExtender implements Extender {
  readonly #parts: ThreadExtenderParts;
  readonly #clock: Clock;
  readonly #byLease = new Map<HeldLease, Entrusted>();
  readonly #byId = new Map<number, Entrusted>();
  readonly #reaches = new Map<number, () => void>();
  #lastId = 0;
  #lastReach = 0;
  #isOpened = false;
  #drain: AwaitedDrain | undefined;
  #standIn: LeaseExtender<HeldLease> | undefined;
  #timer: { readonly atMs: number; readonly cancel: CancelTimer } | undefined;

  constructor(parts: ThreadExtenderParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  /** Whether a lease must be extended now or never. */
  get isPressed(): boolean {
    const { callTimeoutMs, clockMarginMs } = this.#parts.options;
    const neededMs = 2 * callTimeoutMs + clockMarginMs;
    return [...this.#byLease.keys()].some((lease) => lease.remainingMs() < neededMs);
  }

  watch(lease: HeldLease): void {
    const { times } = lease;
    const url = this.#parts.queueUrl();
    if (this.#standIn === undefined && url === undefined) this.standIn(NO_URL);
    if (this.#standIn !== undefined) return void this.#standIn.watch(lease);
    if (times === undefined || url === undefined) return;
    if (!this.#isOpened) this.#open(url);
    this.#lastId += 1;
    const { lastSentAt, validUntil, visibleBy } = times;
    const term = { lastSentAt, validUntil, visibleBy, verdict: "held", handlesAdopted: 0 } as const;
    const entrusted: Entrusted = {
      id: this.#lastId,
      lease,
      lent: this.#parts.slots.lend(term),
    };
    this.#byLease.set(lease, entrusted);
    this.#byId.set(entrusted.id, entrusted);
    this.#entrust(entrusted);
    this.#arm();
  }

  async stop(lease: HeldLease): Promise<void> {
    const entrusted = this.#byLease.get(lease);
    if (entrusted === undefined) return await this.#standIn?.stop(lease);
    if (entrusted.stopped === undefined) {
      entrusted.stopped = Promise.withResolvers();
      if (!entrusted.lent.slot.stop()) entrusted.stopped.resolve();
    }
    await entrusted.stopped.promise;
    // From here on this thread alone says what holds.
    if (this.#byLease.get(lease) === entrusted) lease.entrust();
  }

  async reach(lease: HeldLease, forMs: number): Promise<void> {
    const entrusted = this.#byLease.get(lease);
    if (entrusted === undefined) return await this.#standIn?.reach(lease, forMs);
    this.#lastReach += 1;
    const { queue, post, options } = this.#parts;
    const reach = this.#lastReach;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reaches.set(reach, resolve);
    // One call may be out before it; a thread that has failed does not answer.
    const cancel = this.#clock.schedule(2 * options.callTimeoutMs + THREAD_SLACK_MS, resolve);
    post({ kind: "reach", queue, lease: entrusted.id, forMs, reach });
    await promise;
    cancel();
    this.#reaches.delete(reach);
    lease.apply({ kind: "tick" });
  }

  forget(lease: HeldLease): void {
    const entrusted = this.#byLease.get(lease);
    if (entrusted === undefined) return void this.#standIn?.forget(lease);
    this.#byLease.delete(lease);
    const { queue, post } = this.#parts;
    const isOut = entrusted.lent.slot.stop();
    post({ kind: "forget", queue, lease: entrusted.id });
    if (!isOut) this.#letGo(entrusted);
    if (this.#byLease.size === 0) this.#cancelTimer();
  }

  async beginDrain(targetAtMs: number): Promise<TaperResult> {
    if (this.#standIn !== undefined) return await this.#standIn.beginDrain(targetAtMs);
    this.#drain = { targetAtMs, ...Promise.withResolvers<TaperResult>() };
    if (this.#isOpened) this.#parts.post({ kind: "drain", queue: this.#parts.queue, targetAtMs });
    else this.#drain.resolve({ tapered: 0, refused: 0 });
    return await this.#drain.promise;
  }

  close(): void {
    this.#cancelTimer();
    this.#standIn?.close();
    this.#parts.post({ kind: "close", queue: this.#parts.queue });
    this.#parts.onClose();
  }

  /** What the thread says of this queue. */
  hear(message: Extract<FromExtender, { readonly queue: number }>): void {
    if (message.kind === "drained") return void this.#drain?.resolve(message.result);
    if (message.kind === "reached") return void this.#reaches.get(message.reach)?.();
    if (message.kind === "event" && message.lease === undefined) {
      return void this.#parts.emit(message.event);
    }
    const entrusted = message.lease === undefined ? undefined : this.#byId.get(message.lease);
    if (entrusted === undefined) return;
    const { lease } = entrusted;
    if (message.kind === "stopped") return void this.#stopped(entrusted);
    lease.apply({ kind: "tick" });
    if (message.kind === "over" || !lease.isOpen) return;
    if ("lease" in message.event) this.#parts.emit({ ...message.event, lease: lease.ref });
  }

  /** The event loop stood still, and turns again. */
  unblocked(blockedMs: number, extensionsPaused: boolean): void {
    const { queueName: queue, emit } = this.#parts;
    emit({ kind: "lease.loop-blocked", queue, blockedMs, extensionsPaused });
  }

  /** Takes every lease back: the thread does not work, and nothing of it leaves any more. */
  standIn({ code, message }: ThreadFailure): void {
    if (this.#standIn !== undefined) return;
    const { queueName: queue, emit } = this.#parts;
    const standIn = new LeaseExtender<HeldLease>(this.#parts);
    this.#standIn = standIn;
    this.#cancelTimer();
    emit({ kind: "lease.extender-failed", queue, code, message });
    for (const entrusted of [...this.#byLease.values()]) this.#takeBack(entrusted, standIn);
    this.#byLease.clear();
    this.#byId.clear();
    if (this.#drain === undefined) return;
    const { targetAtMs, resolve } = this.#drain;
    void standIn.beginDrain(targetAtMs).then(resolve);
  }

  #takeBack({ lease, lent, stopped }: Entrusted, standIn: LeaseExtender<HeldLease>): void {
    const { callTimeoutMs, visibilityTimeoutMs } = this.#parts.options;
    const isOut = lent.slot.stop();
    lease.entrust();
    if (!lease.isOpen) return;
    // Nobody will hear its answer, but its hard timeout holds for SQS all the same.
    const call = isOut ? this.#clock.sleep(callTimeoutMs) : undefined;
    if (isOut) {
      const unknown = { kind: "unknown", code: "ExtenderFailed" } as const;
      lease.noteVisibility(unknown, now(this.#clock), visibilityTimeoutMs);
    }
    standIn.watch(lease, call);
    if (stopped !== undefined) void standIn.stop(lease).then(() => stopped.resolve());
  }

  #open(url: string): void {
    const { queue, queueName: name, options, post } = this.#parts;
    this.#isOpened = true;
    post({ kind: "open", queue, opened: { name, url, options } });
    if (this.#drain === undefined) return;
    post({ kind: "drain", queue, targetAtMs: this.#drain.targetAtMs });
  }

  #entrust({ id, lease, lent: { slot, place, generation } }: Entrusted): void {
    const { queue, post } = this.#parts;
    const { ref, receiptHandle, claimedAt } = lease;
    const watched = { ref, receiptHandle, claimedAt, place, generation };
    post({ kind: "watch", queue, lease: id, watched });
    lease.entrust(new SharedKeeper(slot, (message) => post({ ...message, queue, lease: id })));
  }

  #stopped(entrusted: Entrusted): void {
    entrusted.stopped?.resolve();
    if (!this.#byLease.has(entrusted.lease)) this.#letGo(entrusted);
  }

  /** Forgotten, and the thread is not inside: the place may serve the next lease. */
  #letGo({ id, lent, stopped }: Entrusted): void {
    this.#byId.delete(id);
    this.#parts.slots.giveBack(lent);
    stopped?.resolve();
  }

  #tick(): void {
    this.#timer = undefined;
    for (const lease of [...this.#byLease.keys()]) lease.apply({ kind: "tick" });
    this.#arm();
  }

  /** Sets the timer to the next moment at which a lease may be over. */
  #arm(): void {
    if (this.#byLease.size === 0) return;
    const overMs = [...this.#byLease.keys()]
      .filter(({ isEndingOut }) => !isEndingOut)
      .map((lease) => lease.remainingMs());
    const waitMs = Math.min(LONGEST_SLEEP_MS, ...overMs);
    const atMs = this.#clock.monotonicMs() + waitMs;
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#cancelTimer();
    this.#timer = { atMs, cancel: this.#clock.schedule(waitMs, () => this.#tick()) };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
