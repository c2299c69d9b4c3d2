/** Keeps all leases of one queue alive, ten in a call, and notices those that are over. */

import { type CancelTimer, type Clock, type Moment, now } from "@leasehold/clock";
import type { ExtendedLease } from "./extended-lease.ts";
import type { TaperResult } from "./extender.ts";
import { type ExtensionPlan, planExtension, planReach } from "./extension-plan.ts";
import type { LeaseCalls } from "./lease-calls.ts";
import type { LeaseEvent } from "./lease-event.ts";
import type { CallAnswer } from "./lease-queue.ts";
import { moved } from "./lease-term.ts";
import { MAX_BATCH_ENTRIES } from "./limits.ts";
import type { ResolvedLeaseOptions } from "./options.ts";
import { retryPauseMs } from "./retry-pause.ts";

/** A second voice in what leaves, for leases that another thread may stop at any moment. */
export interface ExtensionGate<Kept> {
  /** Whether extensions are made at all for now. */
  isOpen(): boolean;
  /** Whether a call for this lease may leave; the lease is then taken until `leave`. */
  enter(lease: Kept): boolean;
  leave(lease: Kept): void;
}

/** What an extender works with. */
export interface LeaseExtenderParts<Kept extends ExtendedLease> {
  readonly queueName: string;
  readonly clock: Clock;
  readonly options: ResolvedLeaseOptions;
  readonly calls: LeaseCalls;
  /** Must not throw. */
  readonly emit: (event: LeaseEvent) => void;
  /** 0 up to 1. */
  readonly random: () => number;
  /** @defaultValue all may leave */
  readonly gate?: ExtensionGate<Kept>;
}

/** What the extender remembers of one lease. */
interface Watch<Kept> {
  readonly lease: Kept;
  jitter: number;
  failures: number;
  pausedUntil: Moment | undefined;
  /** Settles when no change of visibility for this lease is out. */
  call: Promise<unknown> | undefined;
  isStopped: boolean;
  /** SQS will not take this handle again; a newer one is another matter. */
  refusedHandle: string | undefined;
}

interface Due<Kept> {
  readonly watch: Watch<Kept>;
  readonly plan: ExtensionPlan;
}

/** One entry of a call that is out. */
interface Sent<Kept> extends Due<Kept> {
  readonly receiptHandle: string;
  readonly sentAt: Moment;
  /** What was proved before, to go back to when a taper was not applied. */
  readonly heldUntil: Moment;
  readonly marginMs: number;
}

/**
 * How soon time that passed on the wall clock only is noticed (a suspended VM): no timer rings then.
 */
const LONGEST_SLEEP_MS = 1_000;

/** Leases that fall due within this share of the period fill up a call that must be made anyway. */
const RIDE_ALONG_SHARE = 0.5;

/** One for each queue: a timer, and a call when leases fall due. */
export class LeaseExtender<Kept extends ExtendedLease> {
  readonly #parts: LeaseExtenderParts<Kept>;
  readonly #watches = new Map<Kept, Watch<Kept>>();
  #drainTargetAtMs = Number.POSITIVE_INFINITY;
  #timer: { readonly atMs: number; readonly cancel: CancelTimer } | undefined;

  constructor(parts: LeaseExtenderParts<Kept>) {
    this.#parts = parts;
  }

  /**
   * Keeps the lease alive until `stop` or its end.
   * @param call - settles when a change of its visibility is over that someone else has sent
   */
  watch(lease: Kept, call?: Promise<unknown>): void {
    const watch: Watch<Kept> = {
      lease,
      jitter: this.#parts.random(),
      failures: 0,
      pausedUntil: undefined,
      call,
      isStopped: false,
      refusedHandle: undefined,
    };
    this.#watches.set(lease, watch);
    void call?.then(() => {
      watch.call = undefined;
      this.#arm();
    });
    this.#arm();
  }

  /** Looks again at what is due: the gate has opened, or what is known of a lease has changed. */
  wake(): void {
    this.#arm();
  }

  /** No further extension; resolves when none is out. An extension after a release would undo it. */
  async stop(lease: Kept): Promise<void> {
    const watch = this.#watches.get(lease);
    if (watch === undefined) return;
    watch.isStopped = true;
    await watch.call;
  }

  /** One extension now that reaches `forMs`, as far as it may; resolves when it was answered. */
  async reach(lease: Kept, forMs: number): Promise<void> {
    const watch = this.#watches.get(lease);
    while (watch?.call !== undefined) await watch.call;
    if (watch === undefined || !this.#mayExtend(watch)) return;
    const { options, clock } = this.#parts;
    const { times } = lease;
    if (times === undefined || lease.remainingMs() >= forMs) return;
    const plan = planReach(times, forMs, now(clock), options, this.#drainTargetAtMs);
    if (plan !== undefined) await this.#send([{ watch, plan }]);
  }

  /** The lease has ended. */
  forget(lease: Kept): void {
    this.#watches.delete(lease);
    if (this.#watches.size === 0) this.close();
  }

  /** Shortens at once what reaches beyond the target, and lets nothing reach beyond it from now on. */
  async beginDrain(targetAtMs: number): Promise<TaperResult> {
    this.#drainTargetAtMs = Math.min(this.#drainTargetAtMs, targetAtMs);
    const tapers = this.#plans(now(this.#parts.clock)).filter(({ plan }) => plan.isTaper);
    const answers = (await Promise.all(inTens(tapers).map((some) => this.#send(some)))).flat();
    const tapered = answers.filter((answer) => answer.kind === "ok").length;
    return { tapered, refused: answers.length - tapered };
  }

  /** Ends the timer. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #tick(): void {
    this.#timer = undefined;
    for (const { lease } of [...this.#watches.values()]) lease.apply({ kind: "tick" });
    const plans = this.#plans(now(this.#parts.clock));
    const isDue = ({ plan }: Due<Kept>) => plan.dueInMs === 0;
    const due = plans.filter(isDue);
    const calls = Math.ceil(due.length / MAX_BATCH_ENTRIES);
    const rideMs = this.#parts.options.extendEveryMs * RIDE_ALONG_SHARE;
    const riders = plans.filter(
      (one) => !isDue(one) && one.plan.dueInMs <= rideMs && one.watch.failures === 0,
    );
    const together = [...due, ...riders.sort((a, b) => a.plan.dueInMs - b.plan.dueInMs)];
    for (const some of inTens(together.slice(0, calls * MAX_BATCH_ENTRIES))) void this.#send(some);
    this.#arm();
  }

  /** What each lease needs next, for those that may be extended. */
  #plans(at: Moment): Due<Kept>[] {
    const { options } = this.#parts;
    return [...this.#watches.values()].flatMap((watch) => {
      const { times } = watch.lease;
      if (times === undefined || !this.#mayExtend(watch)) return [];
      const plan = planExtension(times, watch, at, options, this.#drainTargetAtMs);
      return plan === undefined ? [] : [{ watch, plan }];
    });
  }

  #mayExtend({ lease, isStopped, call, refusedHandle }: Watch<Kept>): boolean {
    const isFree = !isStopped && call === undefined && refusedHandle !== lease.receiptHandle;
    return isFree && this.#parts.gate?.isOpen() !== false;
  }

  /** One call; resolves with its answers when they have been applied. */
  #send(dues: readonly Due<Kept>[]): Promise<readonly CallAnswer[]> {
    const { clock, calls, queueName, gate } = this.#parts;
    const sentAt = now(clock);
    const entries = dues
      .filter(({ watch }) => this.#mayLeave(watch))
      .map((due) => this.#sent(due, sentAt));
    if (entries.length === 0) return Promise.resolve([]);
    const answered = calls
      .changeVisibility(
        entries.map(({ receiptHandle, plan }) => ({
          receiptHandle,
          visibilityTimeoutMs: plan.visibilityTimeoutMs,
        })),
      )
      .then((answers) => {
        for (const [index, entry] of entries.entries()) {
          this.#answered(entry, answers[index] as CallAnswer);
          gate?.leave(entry.watch.lease);
        }
        this.#arm();
        return answers;
      });
    for (const { watch } of entries) watch.call = answered;
    this.#parts.emit({ kind: "lease.extension-call", queue: queueName, entries: entries.length });
    return answered;
  }

  /** Someone may have stopped it since it was planned. */
  #mayLeave(watch: Watch<Kept>): boolean {
    if (this.#parts.gate?.enter(watch.lease) === false) watch.isStopped = true;
    return !watch.isStopped;
  }

  #sent({ watch, plan }: Due<Kept>, sentAt: Moment): Sent<Kept> {
    const { lease } = watch;
    const heldUntil = lease.times?.validUntil ?? sentAt;
    const marginMs = lease.remainingMs();
    if (plan.isTaper) {
      const reachMs = plan.visibilityTimeoutMs - this.#parts.options.leaseMarginMs;
      lease.apply({ kind: "shortened", validUntil: moved(sentAt, reachMs) });
    }
    return { watch, plan, receiptHandle: lease.receiptHandle, sentAt, heldUntil, marginMs };
  }

  #answered(sent: Sent<Kept>, answer: CallAnswer): void {
    const { watch, plan, sentAt, receiptHandle } = sent;
    const { lease } = watch;
    watch.call = undefined;
    lease.noteVisibility(answer, sentAt, plan.visibilityTimeoutMs);
    if (!lease.isOpen) return;
    if (answer.kind === "ok") {
      this.#succeeded(sent);
    } else if (answer.kind === "refused" && receiptHandle === lease.receiptHandle) {
      // While a delete is on its way "not found" may be its work: the delete's answer decides.
      if (lease.isUnconfirmedAck) watch.refusedHandle = receiptHandle;
      else lease.apply({ kind: "refused" });
    } else {
      if (plan.isTaper && answer.kind !== "unknown") {
        lease.apply({ kind: "restored", validUntil: sent.heldUntil });
      }
      this.#failed(watch, answer.code);
    }
  }

  #succeeded({ watch, plan, sentAt, marginMs }: Sent<Kept>): void {
    const { lease } = watch;
    watch.failures = 0;
    watch.pausedUntil = undefined;
    watch.jitter = this.#parts.random();
    lease.extendTo(sentAt, plan.visibilityTimeoutMs);
    if (plan.isTaper || !lease.isOpen) return;
    const remainingMs = lease.remainingMs();
    this.#parts.emit({ kind: "lease.extended", lease: lease.ref, marginMs, remainingMs });
  }

  #failed(watch: Watch<Kept>, code: string): void {
    const { clock, emit, random } = this.#parts;
    const { lease } = watch;
    watch.failures += 1;
    watch.pausedUntil = moved(now(clock), retryPauseMs(watch.failures, random()));
    const remainingMs = lease.remainingMs();
    emit({ kind: "lease.extension-failed", lease: lease.ref, code, remainingMs });
    lease.apply({ kind: "tick" });
  }

  /** Sets the timer to the next moment at which there is something to do or to notice. */
  #arm(): void {
    const { clock } = this.#parts;
    if (this.#watches.size === 0) return;
    const dueMs = this.#plans(now(clock)).map(({ plan }) => plan.dueInMs);
    const overMs = [...this.#watches.values()]
      .filter(({ lease }) => !lease.isEndingOut)
      .map(({ lease }) => lease.remainingMs());
    const waitMs = Math.max(0, Math.min(LONGEST_SLEEP_MS, ...dueMs, ...overMs));
    const atMs = clock.monotonicMs() + waitMs;
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    this.#timer = { atMs, cancel: clock.schedule(waitMs, () => this.#tick()) };
  }
}

function inTens<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const calls = Math.ceil(entries.length / MAX_BATCH_ENTRIES);
  return Array.from({ length: calls }, (_, call) =>
    entries.slice(call * MAX_BATCH_ENTRIES, (call + 1) * MAX_BATCH_ENTRIES),
  );
}
