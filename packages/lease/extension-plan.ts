/** When to extend a lease and how far: period, jitter, retry, taper, cap. Pure. */

import type { Moment } from "@leasehold/clock";
import { leftMs, moved } from "./lease-term.ts";
import { MAX_HOLD_MS, SECOND_MS } from "./limits.ts";
import type { ResolvedLeaseOptions } from "./options.ts";

/** What is known about one lease's time. */
export interface LeaseTimes {
  /** When the receive that brought it was sent. */
  readonly claimedAt: Moment;
  /** When the last receive or extension that succeeded was sent. */
  readonly lastSentAt: Moment;
  /** The lower bound of its expiry, less the lease margin. */
  readonly validUntil: Moment;
  /** The upper bound of its expiry. */
  readonly visibleBy: Moment;
}

/** How extending this lease has gone since the last success. */
export interface ExtensionAttempts {
  /** 0 up to 1, drawn anew after each success. */
  readonly jitter: number;
  /** Not before this moment, after a call that failed. */
  readonly pausedUntil: Moment | undefined;
}

/** The next change of visibility that a lease needs. */
export interface ExtensionPlan {
  /** From now; 0 when it is due. */
  readonly dueInMs: number;
  /** Whole seconds, if it were sent now. */
  readonly visibilityTimeoutMs: number;
  /** A shorter reach than SQS has now, not a longer one. */
  readonly isTaper: boolean;
}

/** The share of a period by which jitter may bring an extension forward. */
const JITTER_SHARE = 0.1;

/**
 * What to do next for a lease, or `undefined` when there is nothing: it reaches as far as it may, or
 * no call fits any more before it ends.
 *
 * @param drainTargetAtMs - in a drain, where all leases are to end, on the monotonic clock
 */
export function planExtension(
  times: LeaseTimes,
  attempts: ExtensionAttempts,
  at: Moment,
  options: ResolvedLeaseOptions,
  drainTargetAtMs: number = Number.POSITIVE_INFINITY,
): ExtensionPlan | undefined {
  const heldMs = leftMs(times.validUntil, at);
  if (heldMs < options.callTimeoutMs) return undefined;
  const pauseMs = Math.max(0, leftMs(attempts.pausedUntil ?? at, at));
  const targetMs = drainTargetAtMs - at.monotonicMs;
  const limitMs = Math.min(targetMs, longestVisibilityMs(times.claimedAt, at, options));
  const visibilityTimeoutMs = wholeSeconds(Math.min(options.visibilityTimeoutMs, limitMs));
  if (visibilityTimeoutMs <= 0) return undefined;

  const reachMs = heldMs + options.leaseMarginMs;
  const mayReachMs = times.visibleBy.monotonicMs - at.monotonicMs;
  if (reachMs > targetMs || mayReachMs > targetMs + options.callTimeoutMs) {
    return { dueInMs: pauseMs, visibilityTimeoutMs, isTaper: true };
  }
  if (reachMs >= limitMs - SECOND_MS) return undefined;
  const dueInMs = Math.max(pauseMs, dueWithinMs(times, attempts.jitter, at, options));
  return { dueInMs, visibilityTimeoutMs, isTaper: false };
}

/**
 * One extension, now, after which the lease surely reaches `forMs` whenever within its hard timeout it
 * is answered; less where a drain or SQS do not allow so much, and `undefined` when it would win nothing.
 */
export function planReach(
  times: LeaseTimes,
  forMs: number,
  at: Moment,
  options: ResolvedLeaseOptions,
  drainTargetAtMs: number = Number.POSITIVE_INFINITY,
): ExtensionPlan | undefined {
  const { visibilityTimeoutMs: leastMs, leaseMarginMs, callTimeoutMs } = options;
  const heldMs = leftMs(times.validUntil, at);
  if (heldMs < callTimeoutMs) return undefined;
  const neededMs = Math.ceil((forMs + leaseMarginMs + callTimeoutMs) / SECOND_MS) * SECOND_MS;
  const targetMs = drainTargetAtMs - at.monotonicMs;
  const limitMs = Math.min(targetMs, longestVisibilityMs(times.claimedAt, at, options));
  const visibilityTimeoutMs = wholeSeconds(Math.min(Math.max(leastMs, neededMs), limitMs));
  if (visibilityTimeoutMs - leaseMarginMs <= heldMs) return undefined;
  return { dueInMs: 0, visibilityTimeoutMs, isTaper: false };
}

/**
 * The longest visibility that SQS accepts for a message received at `claimedAt`. SQS counts from
 * the moment it got the receive, which is later than ours, so this is on the safe side.
 */
export function longestVisibilityMs(
  claimedAt: Moment,
  at: Moment,
  options: ResolvedLeaseOptions,
): number {
  return wholeSeconds(leftMs(moved(claimedAt, MAX_HOLD_MS - options.clockMarginMs), at));
}

/**
 * A period after the last success, and early enough for a second try before the lease ends. One that
 * reaches further than usual is left alone until a usual extension no longer shortens it.
 */
function dueWithinMs(
  times: LeaseTimes,
  jitter: number,
  at: Moment,
  options: ResolvedLeaseOptions,
): number {
  const periodMs = options.extendEveryMs * (1 - JITTER_SHARE * jitter);
  const twoTriesMs = 2 * options.callTimeoutMs + options.clockMarginMs;
  const heldMs = leftMs(times.validUntil, at);
  const spareMs = heldMs + options.leaseMarginMs - (options.visibilityTimeoutMs - periodMs);
  const periodLeftMs = leftMs(moved(times.lastSentAt, periodMs), at);
  return Math.min(Math.max(periodLeftMs, spareMs), heldMs - twoTriesMs);
}

function wholeSeconds(durationMs: number): number {
  return Math.max(0, Math.floor(durationMs / SECOND_MS) * SECOND_MS);
}
