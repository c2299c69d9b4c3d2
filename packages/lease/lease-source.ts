/** Claims from one queue and hands each message out as a lease. */

import { type Clock, now } from "@leasehold/clock";
import { ClaimFailedError } from "./errors.ts";
import type { Extender, TaperResult } from "./extender.ts";
import type { ExtenderThread } from "./extender-thread.ts";
import { FifoGroups } from "./fifo-groups.ts";
import type { HeldLease, LeaseSurroundings } from "./held-lease.ts";
import { HeldLeases } from "./held-leases.ts";
import type { Lease } from "./lease.ts";
import { LeaseCalls } from "./lease-calls.ts";
import type { LeaseEvent } from "./lease-event.ts";
import { LeaseExtender } from "./lease-extender.ts";
import type { LeaseQueue, Receipt } from "./lease-queue.ts";
import { type LeaseOptions, type ResolvedLeaseOptions, resolveLeaseOptions } from "./options.ts";
import { type ReceiveAttempt, ReceiveAttempts } from "./receive-attempts.ts";
import { SettleQueue } from "./settle-queue.ts";

/** What one claim asks for. */
export interface ClaimRequest {
  /** 1..10 */
  readonly maxMessages: number;
  /** Long poll, whole seconds, 0..20,000. */
  readonly waitMs: number;
  /** Ends the call by force, for a shutdown that cannot wait: SQS may deliver all the same. */
  readonly signal?: AbortSignal;
}

/** One queue as a source of leases. */
export interface LeaseSource {
  readonly queueName: string;
  /**
   * One ReceiveMessage; resolves with a lease for each message, none when the poll was empty.
   *
   * A message whose former run in this process is not over is held back and comes with a later
   * claim, which then answers at once and does not poll. On a FIFO queue the receive may bring
   * several messages of one group, each as a lease; all but the first wait for their `turn`.
   *
   * @throws ClaimFailedError
   */
  claim(request: ClaimRequest): Promise<readonly Lease[]>;
  /** Every lease that has not ended, oldest first. */
  held(): readonly Lease[];
  /** Acks and dead-letters that SQS has not confirmed yet. */
  readonly unconfirmedAcks: number;
  /**
   * The first tick of a drain: acks no longer linger, and whatever reaches beyond `targetAtMs`, on
   * the monotonic clock, is shortened to it by batched calls now; later extensions reach no further.
   * Resolves when these calls are answered. `refused` counts what SQS did not confirm; the drain
   * tries it again.
   */
  beginDrain(targetAtMs: number): Promise<TaperResult>;
  /** Sends what waits for company and resolves when every ending that was decided is over. */
  flush(): Promise<void>;
  /** Ends all timers and calls nothing any more; leases that are still held lapse. */
  close(): void;
}

/** What a lease source is built from. */
export interface LeaseSourceParts {
  readonly queue: LeaseQueue;
  readonly clock: Clock;
  readonly options?: LeaseOptions;
  /** Hears everything; what it throws is dropped. */
  readonly onEvent: (event: LeaseEvent) => void;
  /** 0 up to 1; spreads extensions and retries. @defaultValue `Math.random` */
  readonly random?: () => number;
  /** Extends the leases in its own thread. @defaultValue they are extended in this one */
  readonly extenderThread?: ExtenderThread;
}

/** @throws InvalidOptionsError */
export function openLeaseSource(parts: LeaseSourceParts): LeaseSource {
  return new QueueLeaseSource(parts);
}

class QueueLeaseSource implements LeaseSource {
  readonly #queue: LeaseQueue;
  readonly #clock: Clock;
  readonly #options: ResolvedLeaseOptions;
  readonly #calls: LeaseCalls;
  readonly #extender: Extender;
  readonly #settling: SettleQueue;
  readonly #held: HeldLeases;
  /** FIFO only. */
  readonly #attempts: ReceiveAttempts | undefined;
  #isClosed = false;

  constructor(parts: LeaseSourceParts) {
    const { queue, clock, options, onEvent, random = Math.random, extenderThread } = parts;
    this.#queue = queue;
    this.#clock = clock;
    this.#options = resolveLeaseOptions(options);
    this.#calls = new LeaseCalls(queue, clock, this.#options.callTimeoutMs);
    const emit = safely(onEvent);
    const common = {
      clock,
      options: this.#options,
      calls: this.#calls,
      queueName: queue.name,
      emit,
      random,
    };
    const queueUrl = () => queue.url;
    this.#extender =
      extenderThread?.extenderFor(queueUrl, common) ?? new LeaseExtender<HeldLease>(common);
    this.#settling = new SettleQueue({
      ...common,
      fifo: queue.fifo,
      stopExtending: (lease) => this.#extender.stop(lease),
    });
    const shared: Omit<LeaseSurroundings, "onChange"> = {
      clock,
      options: this.#options,
      queueName: queue.name,
      hasDeadLetterQueue: queue.hasDeadLetterQueue,
      emit,
      reach: (lease, forMs) => this.#extender.reach(lease, forMs),
      discard: (lease) => this.#settling.discard(lease),
      settle: (lease, ending) => {
        const isLast = ending.kind === "ack" || ending.kind === "dead-letter";
        const tail = isLast ? [] : this.#held.goesBack(lease);
        this.#settling.settle(lease, ending, tail);
      },
    };
    const { visibilityTimeoutMs } = this.#options;
    this.#attempts = queue.fifo ? new ReceiveAttempts(clock, visibilityTimeoutMs) : undefined;
    this.#held = new HeldLeases({
      clock,
      shared,
      ...(queue.fifo && { groups: new FifoGroups() }),
      onBegin: (lease) => this.#extender.watch(lease),
      onEnd: (lease) => this.#extender.forget(lease),
    });
  }

  get queueName(): string {
    return this.#queue.name;
  }

  async claim(request: ClaimRequest): Promise<readonly Lease[]> {
    if (this.#isClosed) throw this.#failure("SourceClosed", "the source has been closed");
    const ready = this.#held.takeReady(request.maxMessages);
    if (ready.length > 0) return ready;
    const sentAt = now(this.#clock);
    const attempt = this.#attempts?.begin(request.maxMessages);
    const receipts = await this.#receive(request, attempt);
    // Nothing extends or gives back what comes after the end; it runs out by itself.
    if (this.#isClosed) return [];
    const claimedAt = attempt?.firstSentAt ?? sentAt;
    const answeredAt = now(this.#clock);
    return this.#held.admit(
      receipts.map((receipt) => ({ receipt, claimedAt, sentAt, answeredAt })),
    );
  }

  held(): readonly Lease[] {
    return this.#held.open;
  }

  get unconfirmedAcks(): number {
    return this.#held.open.filter((lease) => lease.isUnconfirmedAck).length;
  }

  beginDrain(targetAtMs: number): Promise<TaperResult> {
    this.#settling.beginDrain();
    return this.#extender.beginDrain(targetAtMs);
  }

  async flush(): Promise<void> {
    this.#settling.flush();
    const endings = this.#held.open.filter((lease) => lease.isEnding);
    await Promise.all(endings.map((lease) => lease.ended));
    await this.#calls.idle();
  }

  close(): void {
    this.#isClosed = true;
    this.#settling.close();
    this.#held.close();
    this.#extender.close();
  }

  async #receive(request: ClaimRequest, attempt?: ReceiveAttempt): Promise<readonly Receipt[]> {
    const { visibilityTimeoutMs } = this.#options;
    const named = attempt === undefined ? {} : { attemptId: attempt.id };
    try {
      return await this.#queue.receive({ ...request, visibilityTimeoutMs, ...named });
    } catch (error) {
      if (attempt !== undefined) this.#attempts?.lose(attempt);
      if (error instanceof ClaimFailedError) throw error;
      throw this.#failure("Unexpected", describe(error), error);
    }
  }

  #failure(reason: string, detail: string, cause?: unknown): ClaimFailedError {
    return new ClaimFailedError({
      queue: this.#queue.name,
      reason,
      retryable: !this.#isClosed,
      detail,
      cause,
    });
  }
}

/** A listener that throws must not harm a lease. */
function safely(onEvent: (event: LeaseEvent) => void): (event: LeaseEvent) => void {
  return (event) => {
    try {
      onEvent(event);
    } catch {
      // The listener's fault is the listener's; there is nobody here who could be told.
    }
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
