/** What to ask for next: protection, none, or nothing for a while. Pure. */

/** What is known. All points are on the monotonic clock. */
export interface ProtectionState {
  /** Leases are held. */
  readonly isBusy: boolean;
  /** Says something only while nothing is held. */
  readonly idleSinceAtMs: number;
  readonly isDraining: boolean;
  /** Since when the task may be protected without a break; absent when it surely is not. */
  readonly maybeOnSinceAtMs?: number;
  /** When protection was last confirmed; absent when it may be off. */
  readonly confirmedAtMs?: number;
  /** The end of a breather; long past when there is none. */
  readonly breatherUntilMs: number;
}

/** How long things last. */
export interface ProtectionTimes {
  /** How long nothing must be held before protection goes. */
  readonly idleMs: number;
  readonly renewEveryMs: number;
  readonly breatherEveryMs: number;
}

/** The next thing to do. */
export type ProtectionMove =
  | { readonly kind: "set"; readonly why: "busy" | "renewal" }
  | { readonly kind: "clear"; readonly why: "idle" | "drain" | "breather" }
  /** Until a moment, or until something changes. */
  | { readonly kind: "wait"; readonly untilAtMs?: number };

const NOTHING: ProtectionMove = { kind: "wait" };

/** The next move at `nowMs`. */
export function planProtection(
  state: ProtectionState,
  times: ProtectionTimes,
  nowMs: number,
): ProtectionMove {
  const isSurelyOff = state.maybeOnSinceAtMs === undefined;
  if (state.isDraining) return isSurelyOff ? NOTHING : { kind: "clear", why: "drain" };
  if (!state.isBusy) {
    if (isSurelyOff) return NOTHING;
    const clearAtMs = state.idleSinceAtMs + times.idleMs;
    return nowMs < clearAtMs
      ? { kind: "wait", untilAtMs: clearAtMs }
      : { kind: "clear", why: "idle" };
  }
  if (nowMs < state.breatherUntilMs) return { kind: "wait", untilAtMs: state.breatherUntilMs };
  return planBusy(state, times, nowMs);
}

function planBusy(
  { maybeOnSinceAtMs, confirmedAtMs }: ProtectionState,
  { breatherEveryMs, renewEveryMs }: ProtectionTimes,
  nowMs: number,
): ProtectionMove {
  if (maybeOnSinceAtMs === undefined || confirmedAtMs === undefined) {
    return { kind: "set", why: "busy" };
  }
  const breatherAtMs = maybeOnSinceAtMs + breatherEveryMs;
  if (nowMs >= breatherAtMs) return { kind: "clear", why: "breather" };
  const renewAtMs = confirmedAtMs + renewEveryMs;
  if (nowMs >= renewAtMs) return { kind: "set", why: "renewal" };
  return { kind: "wait", untilAtMs: Math.min(breatherAtMs, renewAtMs) };
}
