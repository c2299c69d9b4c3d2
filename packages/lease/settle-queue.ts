/** Makes the calls that end leases, in batches, and tries again while the lease lives. */

import { type CancelTimer, type Clock, type Moment, now } from "@leasehold/clock";
import { CallBatch } from "./call-batch.ts";
import { deadLetterCopy } from "./dead-letter.ts";
import { longestVisibilityMs } from "./extension-plan.ts";
import type { HeldLease } from "./held-lease.ts";
import type { LeaseCalls } from "./lease-calls.ts";
import type { LeaseEnding } from "./lease-ending.ts";
import type { LeaseEvent } from "./lease-event.ts";
import type { CallAnswer } from "./lease-queue.ts";
import { SECOND_MS } from "./limits.ts";
import type { ResolvedLeaseOptions } from "./options.ts";
import { retryPauseMs } from "./retry-pause.ts";

/** What a settle queue works with. */
export interface SettleQueueParts {
  readonly queueName: string;
  readonly fifo: boolean;
  readonly clock: Clock;
  readonly options: ResolvedLeaseOptions;
  readonly calls: LeaseCalls;
  /** No extension from now on; resolves when none is out. */
  readonly stopExtending: (lease: HeldLease) => Promise<void>;
  /** Must not throw. */
  readonly emit: (event: LeaseEvent) => void;
  /** 0 up to 1. */
  readonly random: () => number;
}

/** One delete that is wanted. */
interface Ack {
  readonly lease: HeldLease;
  readonly during: "ack" | "dead-letter";
  failures: number;
  /** The handle of an earlier try that may have deleted the message. */
  perhapsDeleted: string | undefined;
}

type DeadLetter = Extract<LeaseEnding, { readonly kind: "dead-letter" }>;

/** One release or retry that is wanted. */
interface GiveBack {
  readonly lease: HeldLease;
  readonly delayMs: number;
  /** FIFO: what was behind it in its group; it must not come back before them. */
  readonly tail: readonly HeldLease[];
  failures: number;
}

/**
 * Acks may be repeated: a message that is deleted stays deleted. A release or a retry is sent once,
 * unless it provably did nothing, for a second one might free the lease of the next owner.
 */
export class SettleQueue {
  readonly #parts: SettleQueueParts;
  readonly #acks: CallBatch<Ack>;
  readonly #giveBacks: CallBatch<GiveBack>;
  readonly #pauses = new Set<CancelTimer>();
  readonly #closing = new AbortController();
  #isDraining = false;

  constructor(parts: SettleQueueParts) {
    const { clock, options } = parts;
    this.#parts = parts;
    this.#acks = new CallBatch({
      clock,
      lingerMs: () => (this.#isDraining || parts.fifo ? 0 : options.ackLingerMs),
      send: (acks) => void this.#delete(acks),
    });
    this.#giveBacks = new CallBatch({
      clock,
      lingerMs: () => options.releaseGatherMs,
      send: (giveBacks) => void this.#makeVisible(giveBacks),
    });
  }

  /**
   * Makes the calls of an ending that has been decided; the lease hears the answers.
   * @param tail - FIFO: what goes back with it, asked for before
   */
  settle(lease: HeldLease, ending: LeaseEnding, tail: readonly HeldLease[] = []): void {
    if (ending.kind === "ack") this.#addAck(lease, "ack");
    else if (ending.kind === "dead-letter") void this.#deadLetter(lease, ending);
    else if (ending.kind !== "let-go") void this.#giveBack(lease, ending.delayMs, tail);
  }

  /** Deletes, in one try, what was lost and is garbage; not on FIFO, where a late delete is refused. */
  async discard({ ref: lease, receiptHandle }: HeldLease): Promise<void> {
    const { fifo, calls, emit } = this.#parts;
    if (fifo || this.#closing.signal.aborted) return;
    const [answer] = await calls.delete([receiptHandle]);
    const code = answer === undefined || answer.kind === "ok" ? {} : { code: answer.code };
    emit({ kind: "lease.discarded", lease, ...code });
  }

  /** Acks no longer linger. */
  beginDrain(): void {
    this.#isDraining = true;
    this.#acks.flush();
  }

  /** Sends now what waits for company. */
  flush(): void {
    this.#acks.flush();
    this.#giveBacks.flush();
  }

  /** Ends every wait; what has not been sent never will be. */
  close(): void {
    this.#closing.abort();
    this.#acks.clear();
    this.#giveBacks.clear();
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
  }

  #addAck(lease: HeldLease, during: Ack["during"]): void {
    this.#acks.add({ lease, during, failures: 0, perhapsDeleted: undefined });
  }

  async #delete(wanted: readonly Ack[]): Promise<void> {
    const acks = wanted.filter(({ lease }) => {
      lease.apply({ kind: "tick" });
      return lease.isOpen;
    });
    if (acks.length === 0) return;
    for (const { lease } of acks) lease.send();
    const receiptHandles = acks.map(({ lease }) => lease.receiptHandle);
    const answers = await this.#parts.calls.delete(receiptHandles);
    for (const [index, ack] of acks.entries()) {
      this.#deleted(ack, receiptHandles[index] as string, answers[index] as CallAnswer);
    }
  }

  #deleted(ack: Ack, receiptHandle: string, answer: CallAnswer): void {
    const { lease, during } = ack;
    const isNewest = lease.receiptHandle === receiptHandle;
    // A FIFO queue also refuses a handle that came too late, whose message is there for others.
    const isGoneAlready =
      answer.kind === "refused" && ack.perhapsDeleted === receiptHandle && !this.#parts.fifo;
    if ((answer.kind === "ok" || isGoneAlready) && isNewest) {
      return void lease.apply({ kind: "confirmed" });
    }
    if (answer.kind === "ok" || isGoneAlready) {
      // Received again while the delete was out: only the newest handle surely deletes it.
      lease.apply({ kind: "not-applied" });
      return void this.#acks.add(ack);
    }
    const { code } = answer;
    this.#parts.emit({ kind: "lease.settle-failed", lease: lease.ref, during, code });
    if (answer.kind === "refused" && isNewest) return void lease.apply({ kind: "refused" });
    if (answer.kind === "unknown") ack.perhapsDeleted = receiptHandle;
    lease.apply({ kind: answer.kind === "unknown" ? "unknown" : "not-applied" });
    this.#afterPause(ack, () => this.#acks.add(ack));
  }

  async #giveBack(lease: HeldLease, delayMs: number, tail: readonly HeldLease[]): Promise<void> {
    // What is behind it stops at the same time, and is in the same call or in one before it.
    await Promise.all([...tail, lease].map((each) => this.#parts.stopExtending(each)));
    if (lease.isOpen) this.#giveBacks.add({ lease, delayMs, tail, failures: 0 });
  }

  async #makeVisible(wanted: readonly GiveBack[]): Promise<void> {
    const { clock, calls } = this.#parts;
    const giveBacks = wanted.filter(({ lease }) => this.#stillFits(lease));
    if (giveBacks.length === 0) return;
    const sentAt = now(clock);
    const entries = giveBacks.map(({ lease, delayMs }) => {
      const visibilityTimeoutMs = this.#delayForSqs(lease, delayMs, sentAt);
      lease.send(visibilityTimeoutMs);
      return { receiptHandle: lease.receiptHandle, visibilityTimeoutMs };
    });
    const answers = await calls.changeVisibility(entries);
    for (const [index, giveBack] of giveBacks.entries()) {
      const { lease } = giveBack;
      const { receiptHandle, visibilityTimeoutMs } = entries[index] as (typeof entries)[number];
      const answer = answers[index] as CallAnswer;
      lease.noteVisibility(answer, sentAt, visibilityTimeoutMs);
      this.#madeVisible(giveBack, receiptHandle, answer);
    }
  }

  #madeVisible(giveBack: GiveBack, receiptHandle: string, answer: CallAnswer): void {
    const { lease } = giveBack;
    if (answer.kind === "ok") return void lease.apply({ kind: "confirmed" });
    if (answer.kind === "unknown") return void lease.apply({ kind: "unknown" }, answer.code);
    if (answer.kind === "refused" && lease.receiptHandle === receiptHandle) {
      return void lease.apply({ kind: "refused" });
    }
    lease.apply({ kind: "not-applied" });
    this.#afterPause(giveBack, () => void this.#giveBackAgain(giveBack));
  }

  async #giveBackAgain(giveBack: GiveBack): Promise<void> {
    await Promise.all(giveBack.tail.map(({ ended }) => ended));
    if (giveBack.lease.isOpen && !this.#closing.signal.aborted) this.#giveBacks.add(giveBack);
  }

  /** Whether a call that shortens may still leave; when not, the lease runs out by itself. */
  #stillFits(lease: HeldLease): boolean {
    lease.apply({ kind: "tick" });
    if (!lease.isOpen) return false;
    const fits = lease.remainingMs() >= this.#parts.options.callTimeoutMs;
    if (!fits) lease.apply({ kind: "let-go" }, "NoTimeLeft");
    return fits;
  }

  /** Whole seconds, never less than asked, as far as SQS's twelve hours allow. */
  #delayForSqs(lease: HeldLease, delayMs: number, at: Moment): number {
    const wantedMs = Math.ceil(Math.max(0, delayMs) / SECOND_MS) * SECOND_MS;
    return Math.min(wantedMs, longestVisibilityMs(lease.claimedAt, at, this.#parts.options));
  }

  /** Copies first, deletes then: a fault between the two makes a second copy, never a loss. */
  async #deadLetter(lease: HeldLease, { reason, refusedDelayMs }: DeadLetter): Promise<void> {
    const { clock, calls, emit, queueName, fifo, random } = this.#parts;
    const copy = deadLetterCopy(lease.message, reason, { queueName, fifo });
    for (let failures = 1; lease.isOpen; failures += 1) {
      const answer: CallAnswer = lease.canDeadLetter
        ? await calls.deadLetter(copy)
        : { kind: "refused", code: "NoDeadLetterQueue" };
      if (!lease.isOpen) return;
      if (answer.kind === "ok") return void this.#addAck(lease, "dead-letter");
      const { code } = answer;
      emit({ kind: "lease.settle-failed", lease: lease.ref, during: "dead-letter", code });
      // It would be refused as soon as it is back: each time it has to stay away longer.
      if (answer.kind === "refused" && refusedDelayMs !== undefined) {
        return lease.retryInstead(refusedDelayMs);
      }
      if (answer.kind === "refused" || lease.holdRemainingMs() === 0) {
        return void lease.apply({ kind: "let-go" }, code);
      }
      await clock.sleep(retryPauseMs(failures, random()), this.#closing.signal);
    }
  }

  #afterPause(attempt: { readonly lease: HeldLease; failures: number }, again: () => void): void {
    if (!attempt.lease.isOpen || this.#closing.signal.aborted) return;
    attempt.failures += 1;
    const { clock, random } = this.#parts;
    const cancel = clock.schedule(retryPauseMs(attempt.failures, random()), () => {
      this.#pauses.delete(cancel);
      again();
    });
    this.#pauses.add(cancel);
  }
}
