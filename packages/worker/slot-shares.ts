/** What each queue has of the worker's slots, and what it may still take. */

import type { Clock } from "@leasehold/clock";
import { type Room, roomFor, type ShareFacts } from "./share-plan.ts";
import type { Slots } from "./slots.ts";

/** What a queue's loop says of itself. */
export type Standing = Pick<ShareFacts, "openPolls" | "isWaiting">;

/** Even a job that takes no time has been a turn. */
const LEAST_SLOT_MS = 1;
/**
 * How far a queue may fall behind and still catch up: enough for the length of common jobs, and not
 * so much that a queue which never used its share takes everything from the others one day.
 */
const MOST_CREDIT_MS = 60_000;

/** The shares of all queues of one worker. */
export class SlotShares {
  readonly slots: Slots;
  readonly #clock: Clock;
  readonly #shares: SlotShare[] = [];

  constructor(slots: Slots, clock: Clock) {
    this.slots = slots;
    this.#clock = clock;
  }

  /** How many queues share the slots. */
  get size(): number {
    return this.#shares.length;
  }

  /** @param standing - asked whenever a share is reckoned */
  open(weight: number, standing: () => Standing): SlotShare {
    const share = new SlotShare(weight, standing, this, this.#clock);
    this.#shares.push(share);
    return share;
  }

  /** What one of them may take. */
  roomFor(share: SlotShare): Room {
    const { total, free } = this.slots;
    const facts = this.#shares.map((each) => each.facts());
    return roomFor(this.#shares.indexOf(share), facts, { total, free });
  }

  /** How little slot time a busy queue beside this one has had; `undefined` when there is none. */
  leastServedBeside(share: SlotShare): number | undefined {
    const busy = this.#shares.filter((each) => each !== share && !each.isIdle);
    return busy.length === 0 ? undefined : Math.min(...busy.map((each) => each.facts().served));
  }
}

/** The slots of one queue: reserved by its polls, kept by its runs. */
export class SlotShare {
  readonly #weight: number;
  readonly #standing: () => Standing;
  readonly #shares: SlotShares;
  readonly #clock: Clock;
  #isIdle = true;
  #reserved = 0;
  #busy = 0;
  #served = 0;
  #chargedAtMs: number;

  constructor(weight: number, standing: () => Standing, shares: SlotShares, clock: Clock) {
    this.#weight = weight;
    this.#standing = standing;
    this.#shares = shares;
    this.#clock = clock;
    this.#chargedAtMs = clock.monotonicMs();
  }

  /** Whether the last poll brought nothing, or failed. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Whether other queues use the same slots. */
  get isShared(): boolean {
    return this.#shares.size > 1;
  }

  /** What this queue may take now. */
  get room(): Room {
    return this.#shares.roomFor(this);
  }

  facts(): ShareFacts {
    this.#charge();
    return {
      weight: this.#weight,
      held: this.#reserved + this.#busy,
      served: this.#served,
      isIdle: this.#isIdle,
      ...this.#standing(),
    };
  }

  /** Takes slots out for a poll. */
  reserve(wanted: number): number {
    this.#charge();
    const taken = this.#shares.slots.reserve(wanted);
    this.#reserved += taken;
    return taken;
  }

  /** A poll of this queue is over: so many of its slots are used, the others are free again. */
  settle(reserved: number, used: number): void {
    this.#charge();
    this.#reserved -= reserved;
    this.#busy += used;
    this.#served += (used * LEAST_SLOT_MS) / this.#weight;
    this.#shares.slots.occupy(used);
  }

  /** Frees what a poll reserved and did not use; apart from `settle`, for it calls others. */
  unreserve(slots: number): void {
    if (slots > 0) this.#shares.slots.unreserve(slots);
    // It used all of them, and whoever waited for it to take its turn may have theirs.
    else if (this.isShared) this.#shares.slots.offer();
  }

  /** Notes what a poll brought; a failed one brought nothing. */
  note(received: number): void {
    this.#charge();
    // Whoever had nothing to do is owed nothing for that time.
    const creditMs = this.#isIdle ? 0 : MOST_CREDIT_MS;
    this.#isIdle = received === 0;
    const least = this.#shares.leastServedBeside(this);
    if (this.#isIdle || least === undefined) return;
    this.#served = Math.max(this.#served, least - creditMs);
  }

  /** A slot for a message of this queue that is here already. */
  take(): boolean {
    this.#charge();
    const isTaken = this.#shares.slots.take();
    if (isTaken) this.#busy += 1;
    return isTaken;
  }

  /** A slot of this queue is from now on one of another, or of another run of its own. */
  hand(other: SlotShare): void {
    this.#charge();
    other.#charge();
    this.#busy -= 1;
    other.#busy += 1;
  }

  /** A run of this queue is over, or is held without a slot. */
  vacate(): void {
    this.#charge();
    this.#busy -= 1;
    this.#shares.slots.vacate();
  }

  /** The slot of an idle queue's poll is no work, and costs nothing. */
  #charge(): void {
    const nowMs = this.#clock.monotonicMs();
    const charged = this.#busy + (this.#isIdle ? 0 : this.#reserved);
    this.#served += (charged * (nowMs - this.#chargedAtMs)) / this.#weight;
    this.#chargedAtMs = nowMs;
  }
}
