/** Claims from one queue while there is room, and hands on what it claimed. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { Lease, LeaseSource } from "@leasehold/lease";
import { readFailure } from "./claim-failure.ts";
import { ClaimPauses } from "./claim-pauses.ts";
import { type OpenPoll, OpenPolls } from "./open-polls.ts";
import {
  ANSWER_SOON_MS,
  obstacleTo,
  type PollStep,
  planPoll,
  pollWaitMs,
  wantedPollsAfter,
} from "./poll-plan.ts";
import type { PollSize } from "./poll-size.ts";
import { PollWatch } from "./poll-watch.ts";
import type { SlotShare, SlotShares, Standing } from "./slot-shares.ts";
import type { Crowd } from "./start-gate.ts";
import type { WorkerLifeEvent } from "./worker-event.ts";

/** What a loop is made of. */
export interface ClaimLoopParts {
  readonly clock: Clock;
  readonly source: LeaseSource;
  readonly shares: SlotShares;
  /** The queue's share of the slots, against the weights of the others. */
  readonly weight: number;
  /** Long poll. */
  readonly waitMs: number;
  /** When a receive request is given up by its client. */
  readonly requestTimeoutMs: number;
  readonly lingerMs: number;
  readonly pollSize: PollSize;
  /** How long failures may last before the worker has to end: any at the start, final ones later. */
  readonly patienceMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly isMemoryShort: () => boolean;
  readonly isLedgerDown: () => boolean;
  /** The messages of this queue that are held. */
  readonly crowdOf: (share: SlotShare) => Crowd;
  /** Takes each lease over, and its slot with it. */
  readonly onLeases: (leases: readonly Lease[], share: SlotShare) => void;
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

/**
 * The claims of one queue.
 *
 * There is no loop to run twice: whatever changes (a free slot, the end of a poll, a pause that is
 * over) asks what to do now, and one timer at most waits for the next moment to ask.
 */
export class ClaimLoop {
  readonly queueName: string;
  readonly #parts: ClaimLoopParts;
  readonly #share: SlotShare;
  readonly #open = new OpenPolls();
  readonly #pauses: ClaimPauses;
  readonly #watch: PollWatch;
  #isStarted = false;
  #isPaused = false;
  #isStopped = false;
  #wantedPolls = 1;
  #cancelTimer: CancelTimer = () => {};

  constructor(parts: ClaimLoopParts) {
    this.#parts = parts;
    this.queueName = parts.source.queueName;
    this.#share = parts.shares.open(parts.weight, () => this.#standing());
    this.#pauses = new ClaimPauses(parts.patienceMs);
    this.#watch = new PollWatch(parts.requestTimeoutMs, this.#nowMs());
    parts.shares.slots.onFree(() => this.consider());
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
    return this.#pauses.backoffMs(this.#nowMs());
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#pauses.start(this.#nowMs());
    this.consider();
  }

  pause(): void {
    this.#isPaused = true;
    this.#cancelTimer();
  }

  resume(): void {
    this.#isPaused = false;
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

  /** Looks, now and then, whether claims are stuck, and says so once. */
  watch(): void {
    const nowMs = this.#nowMs();
    const isDue = this.#isClaiming() && this.#plan().kind === "poll";
    const oldestPollAtMs = this.#isPaused ? undefined : this.#open.oldestAtMs;
    if (!this.#watch.look({ nowMs, oldestPollAtMs, isDue })) return;
    const stalledMs = this.#watch.stall?.stalledMs ?? 0;
    this.#parts.onEvent({ kind: "claim.stalled", queue: this.queueName, stalledMs });
  }

  /** Why this queue is not claimed from although it should be; `undefined` when all is well. */
  get stalled(): string | undefined {
    const stall = this.#watch.stall;
    if (stall === undefined) return undefined;
    const what = stall.kind === "open" ? "been open" : "been due";
    return `a poll of ${this.queueName} has ${what} for ${Math.round(stall.stalledMs)} ms`;
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

  #plan(): PollStep {
    return planPoll({ ...this.#facts(), room: this.#share.room });
  }

  #facts() {
    const { shares, source, lingerMs, pollSize, crowdOf } = this.#parts;
    const { slots } = shares;
    const nowMs = this.#nowMs();
    return {
      slots: slots.total,
      freeSlots: slots.free,
      freeForMs: nowMs - slots.freeSinceMs,
      openPolls: this.#open.size,
      wantedPolls: this.#wantedPolls,
      unconfirmedAcks: source.unconfirmedAcks,
      lingerMs,
      mostPerPoll: pollSize.most,
      pauseLeftMs: this.#pauses.leftMs(nowMs),
      isMemoryShort: this.#parts.isMemoryShort(),
      isLedgerDown: this.#parts.isLedgerDown(),
      ...crowdOf(this.#share),
    };
  }

  /** How other queues see this one. */
  #standing(): Standing {
    const answersSoon = this.#open.youngestMs(this.#nowMs()) < ANSWER_SOON_MS;
    const mayPoll = this.#isClaiming() && obstacleTo(this.#facts()) === undefined;
    return { openPolls: this.#open.size, isWaiting: answersSoon || mayPoll };
  }

  #askAgainIn(durationMs: number): void {
    this.#cancelTimer = this.#parts.clock.schedule(durationMs, () => this.consider());
  }

  #poll(maxMessages: number): void {
    const wasCrowded = this.#parts.crowdOf(this.#share).isCrowded;
    const reserved = this.#share.reserve(maxMessages);
    // The first poll only asks whether the queue is there.
    const longPollMs = pollWaitMs(this.#parts.waitMs, reserved, this.#share.isShared);
    const waitMs = this.#pauses.isReached ? longPollMs : 0;
    const poll = this.#open.begin(this.#nowMs(), waitMs);
    void this.#claim(poll, reserved, wasCrowded).then((used) => {
      this.#share.unreserve(reserved - used);
      this.#parts.onPollEnd();
      this.consider();
    });
  }

  /** How many messages it brought. Never rejects, so that slots always come back. */
  async #claim(poll: OpenPoll, reserved: number, wasCrowded: boolean): Promise<number> {
    const { source, onLeases } = this.#parts;
    const { waitMs, abort } = poll;
    try {
      const leases = await source.claim({ maxMessages: reserved, waitMs, signal: abort.signal });
      this.#open.end(poll);
      this.#parts.pollSize.note(leases);
      this.#onAnswer(poll, { asked: reserved, received: leases.length, wasCrowded });
      this.#share.settle(reserved, leases.length);
      if (leases.length > 0) onLeases(leases, this.#share);
      return leases.length;
    } catch (error) {
      this.#open.end(poll);
      this.#share.note(0);
      this.#share.settle(reserved, 0);
      if (!this.#isStopped) this.#onError(error);
      return 0;
    }
  }

  #onAnswer(
    { startedAtMs, waitMs }: OpenPoll,
    { asked, received, wasCrowded }: { asked: number; received: number; wasCrowded: boolean },
  ): void {
    const { shares, pollSize, onEvent, onReached } = this.#parts;
    const { slots } = shares;
    const nowMs = this.#nowMs();
    const durationMs = nowMs - startedAtMs;
    onEvent({ kind: "claim.poll", queue: this.queueName, asked, received, durationMs });
    const freeSlots = slots.free + asked - received;
    const room = { slots: slots.total, freeSlots, mostPerPoll: pollSize.most };
    this.#wantedPolls = wantedPollsAfter(this.#wantedPolls, received, room);
    this.#share.note(received);
    const isFirst = !this.#pauses.isReached;
    this.#pauses.answered({ nowMs, received, durationMs, waitMs, wasCrowded });
    if (isFirst) onReached();
  }

  #onError(error: unknown): void {
    const { onEvent, onGivenUp, random } = this.#parts;
    const { message, code, retryable } = readFailure(error);
    this.#wantedPolls = 1;
    const retryInMs = this.#pauses.failed({ nowMs: this.#nowMs(), retryable, random: random() });
    if (retryInMs === undefined) {
      this.stop();
      onGivenUp({ queue: this.queueName, error, atStart: !this.#pauses.isReached });
      return;
    }
    onEvent({ kind: "claim.failed", queue: this.queueName, code, message, retryable, retryInMs });
  }

  #nowMs(): number {
    return this.#parts.clock.monotonicMs();
  }
}
