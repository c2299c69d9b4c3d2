/** How long a failed job waits, and a message that nobody here can work. Pure. */

/** How delays grow: the base doubles with each try, up to the cap. */
export interface BackoffPolicy {
  readonly baseMs: number;
  readonly capMs: number;
}

/** SQS counts in whole seconds, and a delay of 0 would turn a fault into a hot loop. */
const SHORTEST_DELAY_MS = 1_000;
/**
 * How far the delay of a job that asks to come back grows beyond what it asked for. A job that waits
 * for something has a right to its own pace, and one look a minute costs nothing.
 */
const PUT_OFF_CAP_MS = 60_000;

/**
 * The delay after a failure, with full jitter: anything between nothing and the grown base, so that
 * jobs which failed together do not come back together. Never below one second.
 *
 * @param failures - 1 for the first
 * @param random - in [0, 1)
 */
export function retryDelayMs(failures: number, policy: BackoffPolicy, random: number): number {
  return Math.max(SHORTEST_DELAY_MS, Math.round(random * grownMs(failures, policy)));
}

/**
 * The delay of a message that no try will mend here: malformed without a dead-letter queue, or of
 * an unknown type. Without jitter, so that it surely grows with each receive.
 */
export function growingDelayMs(receiveCount: number, policy: BackoffPolicy): number {
  return Math.max(
    SHORTEST_DELAY_MS,
    grownMs(receiveCount, { ...policy, baseMs: Math.max(policy.baseMs, SHORTEST_DELAY_MS) }),
  );
}

/**
 * The delay of a job that asked to come back after `wantedMs`: that, or a second that doubles with
 * each time it was put off before, so that one which asks for no time at all is no hot loop.
 */
export function putOffDelayMs(wantedMs: number, putOffs: number): number {
  const policy = { baseMs: SHORTEST_DELAY_MS, capMs: PUT_OFF_CAP_MS };
  return Math.max(wantedMs, grownMs(putOffs + 1, policy));
}

function grownMs(tries: number, { baseMs, capMs }: BackoffPolicy): number {
  return Math.min(capMs, baseMs * 2 ** Math.max(0, tries - 1));
}
