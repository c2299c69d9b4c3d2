/** How many polls, for how many messages, and how long to wait between them. Pure. */

/** The most messages that one ReceiveMessage brings. */
const FULL_POLL = 10;

const ERROR_BACKOFF_BASE_MS = 200;
const ERROR_BACKOFF_CAP_MS = 30_000;
const EMPTY_PAUSE_BASE_MS = 100;
const EMPTY_PAUSE_CAP_MS = 5_000;
/** Even full jitter leaves a pause, so that no fault becomes a hot loop. */
const SHORTEST_PAUSE_MS = 50;

/** What the next poll of one queue depends on. */
export interface PollFacts {
  readonly slots: number;
  readonly freeSlots: number;
  /** How long a slot has been free. */
  readonly freeForMs: number;
  readonly openPolls: number;
  readonly wantedPolls: number;
  /** Whether the last poll that ended brought nothing. */
  readonly isIdle: boolean;
  /** Whether other queues use the same slots. */
  readonly sharesSlots: boolean;
  readonly unconfirmedAcks: number;
  readonly lingerMs: number;
  /** What is left of a pause after an error or an answer that came too early. */
  readonly pauseLeftMs: number;
}

/** What to do now. Without `forMs` only a change (a free slot, a poll's end) is waited for. */
export type PollStep =
  | { readonly kind: "poll"; readonly maxMessages: number }
  | { readonly kind: "wait"; readonly forMs?: number };

/**
 * Whether to poll now, and for how many messages.
 *
 * A poll asks only for slots that are free: nothing is claimed that cannot start. It waits until ten
 * are free (or all, when there are fewer), or until a slot has been free for the linger, so that
 * requests are few and no slot stands empty for long. An idle queue that shares its slots reserves
 * one alone; the rest is for queues that have work.
 */
export function planPoll(facts: PollFacts): PollStep {
  if (facts.openPolls >= facts.wantedPolls) return { kind: "wait" };
  if (facts.unconfirmedAcks > facts.slots) return { kind: "wait" };
  if (facts.pauseLeftMs > 0) return { kind: "wait", forMs: facts.pauseLeftMs };
  if (facts.freeSlots === 0) return { kind: "wait" };
  const most = facts.isIdle && facts.sharesSlots ? 1 : Math.min(FULL_POLL, facts.slots);
  const maxMessages = Math.min(most, facts.freeSlots);
  const lingerLeftMs = facts.lingerMs - facts.freeForMs;
  if (maxMessages < most && lingerLeftMs > 0) return { kind: "wait", forMs: lingerLeftMs };
  return { kind: "poll", maxMessages };
}

/**
 * How many polls to keep open after one has ended: one more while polls bring work and slots stay
 * free, one alone as soon as a poll comes back empty.
 */
export function wantedPollsAfter(
  wantedPolls: number,
  received: number,
  { slots, freeSlots }: { readonly slots: number; readonly freeSlots: number },
): number {
  if (received === 0) return 1;
  const most = Math.ceil(slots / FULL_POLL) + 1;
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
