/** Whether a job is tried again on the lease that it has: FIFO, where its group waits for it. */

import type { Decision, Ending } from "./job-ending.ts";
import type { RunParts } from "./run-parts.ts";
import { awaitTime, type TurnLimits } from "./waiting-turn.ts";

/** A message whose wait was ended stays hidden for a second at least, as after any failure. */
const SHORTEST_DELAY_MS = 1_000;

/**
 * A failure waits no longer than a job may wait on its lease; one that itself asks for a longer time
 * is to have it.
 */
export function asInPlace(decision: Decision, inPlaceMs: number | undefined): Decision {
  const { outcome, ending } = decision;
  if (inPlaceMs === undefined || outcome !== "failed" || ending.kind !== "retry") return decision;
  return { ...decision, ending: { ...ending, delayMs: Math.min(ending.delayMs, inPlaceMs) } };
}

/**
 * How long to wait for the next try on the same lease; `undefined` when the ending is to be carried
 * out.
 *
 * On a FIFO queue the whole group waits for a job that failed. Giving it back would give back what
 * is behind it too, and each time cost a receive of messages that never ran. So it is tried again on
 * its lease, unless it is to wait for longer than `inPlaceMs`.
 */
export function inPlaceDelayMs(
  ending: Ending,
  { inPlaceMs = -1, lease, draining }: Pick<RunParts, "inPlaceMs"> & Omit<TurnLimits, "clock">,
): number | undefined {
  if (ending.kind !== "retry" || draining.aborted) return undefined;
  const fits = ending.delayMs <= inPlaceMs && ending.delayMs < lease.holdRemainingMs();
  return fits ? ending.delayMs : undefined;
}

/**
 * Waits in place, without a slot.
 *
 * @returns 0 when the time is over; what was left of it, a second at least, when the wait was ended
 */
export async function waitInPlace(
  delayMs: number,
  parts: TurnLimits & Pick<RunParts, "rest">,
): Promise<number> {
  const { clock, lease } = parts;
  const untilMs = clock.monotonicMs() + delayMs;
  parts.rest?.(lease);
  const how = await awaitTime(delayMs, parts);
  if (how === "come") return 0;
  return Math.max(SHORTEST_DELAY_MS, untilMs - clock.monotonicMs());
}
