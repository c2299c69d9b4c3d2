/** How many polls, for how many messages, and how long to wait between them. Pure. */

import type { Room } from "./share-plan.ts";

/** How soon a queue that has work answers; a poll that is open for longer waits for messages. */
export const ANSWER_SOON_MS = 100;
/** The long poll of a busy queue that keeps slots which others could use. */
const LENT_WAIT_MS = 1_000;

const ERROR_BACKOFF_BASE_MS = 200;
const ERROR_BACKOFF_CAP_MS = 30_000;
const EMPTY_PAUSE_BASE_MS = 100;
const EMPTY_PAUSE_CAP_MS = 5_000;
const CROWDED_PAUSE_BASE_MS = 1_000;
const CROWDED_PAUSE_CAP_MS = 30_000;
/** Even full jitter leaves a pause, so that no fault becomes a hot loop. */
const SHORTEST_PAUSE_MS = 50;

/** What the next poll of one queue depends on. */
export interface PollFacts {
  readonly slots: number;
  readonly freeSlots: number;
  /** What this queue may take of them. */
  readonly room: Room;
  /** The most messages that one poll of this queue may bring, ten at most. */
  readonly mostPerPoll: number;
  /** How long a slot has been free. */
  readonly freeForMs: number;
  readonly openPolls: number;
  readonly wantedPolls: number;
  readonly unconfirmedAcks: number;
  readonly lingerMs: number;
  /** What is left of a pause after an error or an answer that came too early. */
  readonly pauseLeftMs: number;
  /** Whether memory is too short for more work. */
  readonly isMemoryShort: boolean;
  /** Whether the job ledger's store does not answer. */
  readonly isLedgerDown: boolean;
  /** How many more messages may be held over a cap; without end while none is held. */
  readonly holdRoom: number;
  /** Whether messages over a cap wait in slots, for there is no room to hold them without. */
  readonly isCrowded: boolean;
  /** Whether a job runs alone or waits to, so that nothing else could start. */
  readonly isClosed: boolean;
}

/** What to do now. Without `forMs` only a change (a free slot, a poll's end) is waited for. */
export type PollStep =
  | { readonly kind: "poll"; readonly maxMessages: number }
  | { readonly kind: "wait"; readonly forMs?: number };

/**
 * Whether to poll now, and for how many messages.
 *
 * A poll asks only for slots that are free: nothing is claimed that cannot start. It waits until ten
 * are free (or all that it may have, when those are fewer), or until a slot has been free for the
 * linger, so that requests are few and no slot stands empty for long. The more messages are held
 * over a cap, the less is asked for.
 */
export function planPoll(facts: PollFacts): PollStep {
  const obstacle = obstacleTo(facts);
  if (obstacle !== undefined) return obstacle;
  const { room, freeSlots } = facts;
  // Another queue has the turn; it may turn out that it has nothing to do.
  if (room.now === 0) return freeSlots > 0 ? wait(ANSWER_SOON_MS) : wait();
  const most = facts.isCrowded ? 1 : Math.min(facts.mostPerPoll, Math.max(1, facts.holdRoom));
  const maxMessages = Math.min(most, room.now);
  const lingerLeftMs = facts.lingerMs - facts.freeForMs;
  if (maxMessages < Math.min(most, room.most) && lingerLeftMs > 0) return wait(lingerLeftMs);
  return { kind: "poll", maxMessages };
}

/** Why this queue may not poll now, however many slots are free; `undefined` when it may. */
export function obstacleTo(facts: Omit<PollFacts, "room">): PollStep | undefined {
  if (facts.openPolls >= facts.wantedPolls) return wait();
  if (facts.unconfirmedAcks > facts.slots) return wait();
  if (facts.isMemoryShort || facts.isLedgerDown || facts.isClosed) return wait();
  // Half of the slots are left to other queues, and to other tenants when they have their turn.
  if (facts.isCrowded && facts.freeSlots <= facts.slots / 2) return wait();
  return facts.pauseLeftMs > 0 ? wait(facts.pauseLeftMs) : undefined;
}

/**
 * The long poll for one poll. Slots that others could use are kept for a second at most: a queue
 * that turns out to be idle then asks for one message, and waits for long.
 */
export function pollWaitMs(waitMs: number, maxMessages: number, isShared: boolean): number {
  return isShared && maxMessages > 1 ? Math.min(waitMs, LENT_WAIT_MS) : waitMs;
}

/**
 * How many polls to keep open after one has ended: one more while polls bring work and slots stay
 * free, one alone as soon as a poll comes back empty.
 */
export function wantedPollsAfter(
  wantedPolls: number,
  received: number,
  { slots, freeSlots, mostPerPoll }: Pick<PollFacts, "slots" | "freeSlots" | "mostPerPoll">,
): number {
  if (received === 0) return 1;
  const most = Math.ceil(slots / mostPerPoll) + 1;
  return freeSlots > 0 ? Math.min(most, wantedPolls + 1) : wantedPolls;
}

/** The pause after the nth error in a row, with full jitter. */
export function errorPauseMs(errors: number, random: number): number {
  const grownMs = Math.min(ERROR_BACKOFF_CAP_MS, ERROR_BACKOFF_BASE_MS * 2 ** errors);
  return Math.max(Math.min(SHORTEST_PAUSE_MS * errors, grownMs), Math.round(random * grownMs));
}

/**
 * The pause after the nth poll in a row that came back empty before half of its wait was over; SQS
 * does so now and then, and some emulators whenever a message moves to the dead-letter queue.
 */
export function earlyEmptyPauseMs(emptyPolls: number): number {
  return Math.min(EMPTY_PAUSE_CAP_MS, EMPTY_PAUSE_BASE_MS * 2 ** (emptyPolls - 1));
}

/** The pause after the nth poll in a row that was made while messages over a cap wait in slots. */
export function crowdedPauseMs(crowdedPolls: number): number {
  return Math.min(CROWDED_PAUSE_CAP_MS, CROWDED_PAUSE_BASE_MS * 2 ** (crowdedPolls - 1));
}

function wait(forMs?: number): PollStep {
  return forMs === undefined ? { kind: "wait" } : { kind: "wait", forMs };
}
