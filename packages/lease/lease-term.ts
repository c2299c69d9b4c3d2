/** Until when something holds, on both clocks at once. Pure. */

import type { Moment } from "@leasehold/clock";

/** `moment` moved by `byMs`. A point in the future is reached when either clock has passed it. */
export function moved(moment: Moment, byMs: number): Moment {
  return { monotonicMs: moment.monotonicMs + byMs, wallMs: moment.wallMs + byMs };
}

/**
 * What is left until `deadline`, seen at `at`: the smaller of both clocks, so that time which passed
 * on only one of them (a suspended VM, a stepped wall clock) counts. Negative when it has passed.
 */
export function leftMs(deadline: Moment, at: Moment): number {
  return Math.min(deadline.monotonicMs - at.monotonicMs, deadline.wallMs - at.wallMs);
}

/** The earlier of two deadlines on each clock: a lower bound of both. */
export function earlier(one: Moment, other: Moment): Moment {
  return {
    monotonicMs: Math.min(one.monotonicMs, other.monotonicMs),
    wallMs: Math.min(one.wallMs, other.wallMs),
  };
}

/** The later of two deadlines on each clock: an upper bound of both. */
export function later(one: Moment, other: Moment): Moment {
  return {
    monotonicMs: Math.max(one.monotonicMs, other.monotonicMs),
    wallMs: Math.max(one.wallMs, other.wallMs),
  };
}
