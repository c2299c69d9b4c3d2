/** How long to wait before a call that did nothing is tried again. Pure. */

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Short, because a lease lives for seconds; growing, because a throttled queue needs room.
 * @param failures - how often the call has failed in a row, from 1
 * @param random - 0 up to 1; spreads the pause over its upper half
 */
export function retryPauseMs(failures: number, random: number): number {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  return Math.ceil(pauseMs * (0.5 + random / 2));
}
