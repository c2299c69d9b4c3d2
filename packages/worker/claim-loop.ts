/** Claims from one queue while there is room, and hands on what it claimed. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { Lease, LeaseSource } from "@leasehold/lease";
import { readFailure } from "./claim-failure.ts";
import { type OpenPoll, OpenPolls } from "./open-polls.ts";
import { earlyEmptyPauseMs, errorPauseMs, planPoll, wantedPollsAfter } from "./poll-plan.ts";
import type { Slots } from "./slots.ts";
import type { WorkerLifeEvent } from "./worker-event.ts";

/** What a loop is made of. */
export interface ClaimLoopParts {
  readonly clock: Clock;
  readonly source: LeaseSource;
  readonly slots: Slots;
  /** Long poll. */
  readonly waitMs: number;
  /** When a receive request is given up by its client. */
  readonly requestTimeoutMs: number;
  readonly lingerMs: number;
  /** Whether other queues use the same slots. */
  readonly sharesSlots: boolean;
  /** How long failures may last before the worker has to end: any at the start, final ones later. */
  readonly patienceMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** Takes each lease over, and its slot with it. */
  readonly onLeases: (leases: readonly Lease[]) => void;
  readonly onEvent: (event: WorkerLifeEvent) => void;
  /** The queue has answered for the first time. */
  readonly onReached: () => void;
  /** Patience is at an end. */
  readonly onGivenUp: (failure: ClaimGivenUp) => void;
  /** A poll has ended. */
  readonly onPollEnd: () => void;
}

/** A queue that cannot be claimed from. */
export interface ClaimGivenUp {
  readonly queue: string;
  readonly error: unknown;
  /** Whether it never answered at all. */
  readonly atStart: boolean;
}

/** Beyond its request's timeout, a poll that has not ended is stuck, not slow. */
const STALL_GRACE_MS = 10_000;
/** How long a poll may be due and not made. */
const DUE_GRACE_MS = 30_000;

/**
 * The claims of one queue.
 *
 * There is no loop to run twice: whatever changes (a free slot, the end of a poll, a pause that is
 * over) asks what to do now, and one timer at most waits for the next moment to ask.
 */
export class ClaimLoop {
  readonly queueName: string;
  readonly #parts: ClaimLoopParts;
  readonly #open = new OpenPolls();
  #isStarted = false;
  #isPaused = false;
  #isStopped = false;
  #isReached = false;
  #isIdle = true;
  #wantedPolls = 1;
  #errors = 0;
  #earlyEmptyPolls = 0;
  #pauseUntilMs = 0;
  #failingSinceMs: number | undefined;
  #activeAtMs: number;
  #cancelTimer: CancelTimer = () => {};

  constructor(parts: ClaimLoopParts) {
    this.#parts = parts;
    this.queueName = parts.source.queueName;
    this.#activeAtMs = parts.clock.monotonicMs();
    parts.slots.onFree(() => this.consider());
  }

  get openPolls(): number {
    return this.#open.size;
  }

  get oldestPollMs(): number {
    return this.#open.oldestMs(this.#nowMs());
  }

  /** How long an open poll may still take messages in; 0 when none is open. */
  get pollRestMs(): number {
    return this.#open.restMs(this.#nowMs());
  }

  /** What is left of the pause after an error; 0 when the queue answers. */
  get backoffMs(): number {
    return this.#errors > 0 ? Math.max(0, this.#pauseUntilMs - this.#nowMs()) : 0;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#failingSinceMs = this.#nowMs();
    this.consider();
  }

  pause(): void {
    this.#isPaused = true;
    this.#cancelTimer();
  }

  resume(): void {
    this.#isPaused = false;
    this.#activeAtMs = this.#nowMs();
    this.consider();
  }

  /** No claim is made from now on. Polls that are open are left to end: see `quiet`. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  /** Resolves when every poll that is open now has ended. */
  quiet(): Promise<void> {
    return this.#open.quiet();
  }

  /** Ends open polls by force. Only for a process that goes: SQS may deliver all the same. */
  abandonPolls(): void {
    this.#open.abandon();
  }

  /** Why this queue is not claimed from although it should be; `undefined` when all is well. */
  get stalled(): string | undefined {
    const { requestTimeoutMs } = this.#parts;
    if (this.oldestPollMs > requestTimeoutMs + STALL_GRACE_MS) {
      return `a poll of ${this.queueName} has been open for ${Math.round(this.oldestPollMs)} ms`;
    }
    const dueForMs = this.#nowMs() - Math.max(this.#activeAtMs, this.#parts.slots.freeSinceMs);
    if (this.#isClaiming() && this.#plan().kind === "poll" && dueForMs > DUE_GRACE_MS) {
      return `a poll of ${this.queueName} has been due for ${Math.round(dueForMs)} ms`;
    }
    return undefined;
  }

  /** Asks what to do now, and does it. */
  consider(): void {
    this.#cancelTimer();
    while (this.#isClaiming()) {
      const step = this.#plan();
      if (step.kind === "wait") {
        const { forMs } = step;
        if (forMs !== undefined) this.#askAgainIn(forMs);
        return;
      }
      this.#poll(step.maxMessages);
    }
  }

  #isClaiming(): boolean {
    return this.#isStarted && !this.#isPaused && !this.#isStopped;
  }

  #plan() {
    const { slots, source, lingerMs, sharesSlots } = this.#parts;
    const nowMs = this.#nowMs();
    return planPoll({
      slots: slots.total,
      freeSlots: slots.free,
      freeForMs: nowMs - slots.freeSinceMs,
      openPolls: this.#open.size,
      wantedPolls: this.#wantedPolls,
      isIdle: this.#isIdle,
      sharesSlots,
      unconfirmedAcks: source.unconfirmedAcks,
      lingerMs,
      pauseLeftMs: this.#pauseUntilMs - nowMs,
    });
  }

  #askAgainIn(durationMs: number): void {
    this.#cancelTimer = this.#parts.clock.schedule(durationMs, () => this.consider());
  }

  #poll(maxMessages: number): void {
    const { slots, clock } = this.#parts;
    const reserved = slots.reserve(maxMessages);
    // The first poll only asks whether the queue is there.
    const waitMs = this.#isReached ? this.#parts.waitMs : 0;
    const poll = this.#open.begin(this.#nowMs(), waitMs);
    const stallAfterMs = this.#parts.requestTimeoutMs + STALL_GRACE_MS + 1;
    const cancelStall = clock.schedule(stallAfterMs, () => this.#reportStall());
    void this.#claim(poll, reserved).then((kept) => {
      cancelStall();
      this.#activeAtMs = this.#nowMs();
      slots.unreserve(reserved - kept);
      this.#parts.onPollEnd();
      this.consider();
    });
  }

  /** How many messages it brought. Never rejects, so that slots always come back. */
  async #claim(poll: OpenPoll, reserved: number): Promise<number> {
    const { source } = this.#parts;
    const { waitMs, abort } = poll;
    try {
      const leases = await source.claim({ maxMessages: reserved, waitMs, signal: abort.signal });
      this.#open.end(poll);
      this.#onAnswer(poll, reserved, leases.length);
      this.#parts.slots.occupy(leases.length);
      if (leases.length > 0) this.#parts.onLeases(leases);
      return leases.length;
    } catch (error) {
      this.#open.end(poll);
      if (!this.#isStopped) this.#onError(error);
      return 0;
    }
  }

  #onAnswer({ startedAtMs, waitMs }: OpenPoll, asked: number, received: number): void {
    const { slots, onEvent, onReached } = this.#parts;
    const durationMs = this.#nowMs() - startedAtMs;
    onEvent({ kind: "claim.poll", queue: this.queueName, asked, received, durationMs });
    this.#errors = 0;
    this.#failingSinceMs = undefined;
    this.#isIdle = received === 0;
    const freeSlots = slots.free + asked - received;
    const room = { slots: slots.total, freeSlots };
    this.#wantedPolls = wantedPollsAfter(this.#wantedPolls, received, room);
    this.#pauseUntilMs = 0;
    if (received === 0 && durationMs < waitMs / 2) {
      this.#earlyEmptyPolls += 1;
      this.#pauseUntilMs = this.#nowMs() + earlyEmptyPauseMs(this.#earlyEmptyPolls);
    } else {
      this.#earlyEmptyPolls = 0;
    }
    if (this.#isReached) return;
    this.#isReached = true;
    onReached();
  }

  #onError(error: unknown): void {
    const { onEvent, onGivenUp, patienceMs, random } = this.#parts;
    const nowMs = this.#nowMs();
    const { message, code, retryable } = readFailure(error);
    this.#errors += 1;
    this.#wantedPolls = 1;
    if (this.#isReached)
      this.#failingSinceMs = retryable ? undefined : (this.#failingSinceMs ?? nowMs);
    const failingForMs = nowMs - (this.#failingSinceMs ?? nowMs);
    if (this.#failingSinceMs !== undefined && failingForMs >= patienceMs) {
      this.stop();
      onGivenUp({ queue: this.queueName, error, atStart: !this.#isReached });
      return;
    }
    const pauseMs = errorPauseMs(this.#errors, random());
    const isCounted = this.#failingSinceMs !== undefined;
    const retryInMs = isCounted ? Math.min(pauseMs, patienceMs - failingForMs) : pauseMs;
    this.#pauseUntilMs = Math.max(this.#pauseUntilMs, nowMs + retryInMs);
    onEvent({ kind: "claim.failed", queue: this.queueName, code, message, retryable, retryInMs });
  }

  #reportStall(): void {
    const stalledMs = this.oldestPollMs;
    this.#parts.onEvent({ kind: "claim.stalled", queue: this.queueName, stalledMs });
  }

  #nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }
}
