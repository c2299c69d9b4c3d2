/** How the slots of a worker are split between its queues. Pure. */

/** What the split depends on, for each queue. */
export interface ShareFacts {
  /** Its share while several queues are busy, against the weights of the others. */
  readonly weight: number;
  /** Slots that its polls and runs have now. */
  readonly held: number;
  /** How much slot time it has had, over its weight. */
  readonly served: number;
  /** Whether its last poll brought nothing. */
  readonly isIdle: boolean;
  readonly openPolls: number;
  /** Whether it would take more slots now, or soon: it may poll, or waits for an answer. */
  readonly isWaiting: boolean;
}

/** What one queue may take. */
export interface Room {
  /** Slots, now. */
  readonly now: number;
  /** Slots, when all that are its own are free. */
  readonly most: number;
}

/**
 * The slots that the queue at `index` may take.
 *
 * An idle queue's poll has one slot, and one is left for it while it has no poll: whatever comes to
 * it starts at once. Busy queues have the rest by their weights. Where a share is no whole number,
 * the queue that has had less slot time for its weight goes first. What nobody else wants is lent.
 */
export function roomFor(
  index: number,
  queues: readonly ShareFacts[],
  { total, free }: { readonly total: number; readonly free: number },
): Room {
  const own = queues[index] as ShareFacts;
  if (queues.length === 1) return { now: free, most: total };
  if (own.isIdle) return { now: Math.min(1, free), most: 1 };

  const idle = queues.filter(({ isIdle }) => isIdle);
  const owed = idle.filter(({ openPolls }) => openPolls === 0).length;
  const spare = Math.max(0, free - owed);
  const rivals = queues.filter((queue) => queue !== own && !queue.isIdle && queue.isWaiting);
  if (rivals.length === 0) return { now: spare, most: Math.max(1, total - idle.length) };

  const weights = rivals.reduce((sum, { weight }) => sum + weight, own.weight);
  const slotsOf = ({ weight }: ShareFacts) =>
    Math.max(1, Math.ceil(((total - idle.length) * weight) / weights));
  const needOf = (queue: ShareFacts) => Math.max(0, slotsOf(queue) - queue.held);
  const isAhead = (rival: ShareFacts) =>
    rival.served < own.served || (rival.served === own.served && queues.indexOf(rival) < index);

  const need = needOf(own);
  const allNeeds = rivals.reduce((sum, rival) => sum + needOf(rival), 0);
  const needsAhead = rivals.filter(isAhead).reduce((sum, rival) => sum + needOf(rival), 0);
  const due = Math.min(need, Math.max(0, spare - needsAhead));
  const lent = Math.max(0, spare - need - allNeeds);
  // What others hold is no company that could come soon.
  const heldByOthers = queues.reduce((sum, { held }) => sum + held, -own.held);
  const most = Math.max(1, Math.min(slotsOf(own), total - heldByOthers));
  return { now: due + lent, most };
}
