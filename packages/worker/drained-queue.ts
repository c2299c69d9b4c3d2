/** The queues of a worker as a drain sees them. */

import type { Lease, LeaseSource, TaperResult } from "@leasehold/lease";
import type { ClaimLoop } from "./claim-loop.ts";

/** One queue, as a drain sees it. */
export interface DrainedQueue {
  readonly loop: ClaimLoop;
  readonly source: LeaseSource;
}

/** Polls that are open now. */
export function openPollsOf(queues: readonly DrainedQueue[]): number {
  return queues.reduce((sum, { loop }) => sum + loop.openPolls, 0);
}

/** The queue that a lease came from. */
export function loopOf(queues: readonly DrainedQueue[], lease: Lease): ClaimLoop {
  const queue = queues.find(({ loop }) => loop.queueName === lease.ref.queue);
  if (queue === undefined) throw new Error(`no queue named ${lease.ref.queue}`);
  return queue.loop;
}

/** Shortens what reaches beyond the target, on the monotonic clock; says how that went. */
export async function taperQueues(
  queues: readonly DrainedQueue[],
  targetAtMs: number,
): Promise<TaperResult> {
  const results = await Promise.all(queues.map(({ source }) => source.beginDrain(targetAtMs)));
  const tapered = results.reduce((sum, result) => sum + result.tapered, 0);
  const refused = results.reduce((sum, result) => sum + result.refused, 0);
  return { tapered, refused };
}
