/** Time as a port: monotonic and wall time, timers, and a sleep that a signal ends. */

/** Stops a timer that has not fired; afterwards it does nothing. */
export type CancelTimer = () => void;

/** A point in time on both clocks, so that a suspended machine can be noticed. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Where every file but `system-clock.ts` gets its time from. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never steps, but may stand still in a suspended VM. */
  monotonicMs(): number;
  /** Unix time in milliseconds; may be stepped forwards and backwards. */
  wallMs(): number;
  /**
   * Resolves after `durationMs`, or as soon as `signal` aborts: never rejects, so a caller looks at
   * its signal afterwards. A signal that has aborted already ends the sleep at once.
   */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `delayMs`. A timer never keeps a process alive that has nothing else. */
  schedule(delayMs: number, run: () => void): CancelTimer;
}

/** This moment on both clocks. */
export function now(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * How long ago `since` was: the larger elapsed of both clocks. A VM that was suspended shows on the
 * wall clock only, a wall clock that was stepped back shows on the monotonic clock only.
 */
export function elapsedMs(clock: Clock, since: Moment): number {
  return Math.max(clock.monotonicMs() - since.monotonicMs, clock.wallMs() - since.wallMs);
}
