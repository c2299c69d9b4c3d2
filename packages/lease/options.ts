/** What a caller may choose about leases, the defaults, and the ranges that make sense together. */

import { durationMs, type OptionRules, resolveOptions } from "@leasehold/options";
import { MAX_HOLD_MS, SECOND_MS } from "./limits.ts";

/** What a caller may choose about leases. */
export interface LeaseOptions {
  /**
   * How long a claimed message stays invisible to other workers, and how far each extension
   * reaches. Whole seconds.
   * @defaultValue 60_000
   */
  readonly visibilityTimeoutMs?: number;
  /**
   * When to extend, counted from the moment the last claim or extension was sent.
   * @defaultValue a third of `visibilityTimeoutMs`
   */
  readonly extendEveryMs?: number;
  /**
   * The hard timeout of one extension, release or delete.
   * @defaultValue 2_000
   */
  readonly callTimeoutMs?: number;
  /**
   * How much earlier than SQS we regard a lease as over: what a call may spend under way.
   * @defaultValue 1_000
   */
  readonly leaseMarginMs?: number;
  /**
   * How far our clocks and timers may be off.
   * @defaultValue 1_000
   */
  readonly clockMarginMs?: number;
  /**
   * How long an ack waits for others to share its call. Not on FIFO queues and not in a drain.
   * @defaultValue 100
   */
  readonly ackLingerMs?: number;
  /**
   * How long a release or retry waits for others to share its call.
   * @defaultValue 20
   */
  readonly releaseGatherMs?: number;
  /**
   * The longest that one message may be held, extensions included; SQS allows twelve hours.
   * @defaultValue 43_200_000
   */
  readonly maxHoldMs?: number;
}

/** Every option, resolved. All other files take this type, never `LeaseOptions`. */
export type ResolvedLeaseOptions = Required<LeaseOptions>;

const RULES: OptionRules<ResolvedLeaseOptions> = {
  visibilityTimeoutMs: durationMs(60_000, { min: 2 * SECOND_MS, max: MAX_HOLD_MS }),
  extendEveryMs: durationMs(
    (resolved) => Math.floor((resolved["visibilityTimeoutMs"] as number) / 3),
    { min: 1, max: MAX_HOLD_MS },
  ),
  callTimeoutMs: durationMs(2_000, { min: 1, max: 60_000 }),
  leaseMarginMs: durationMs(1_000, { min: 0, max: 60_000 }),
  clockMarginMs: durationMs(1_000, { min: 0, max: 60_000 }),
  ackLingerMs: durationMs(100, { min: 0, max: 10_000 }),
  releaseGatherMs: durationMs(20, { min: 0, max: 1_000 }),
  maxHoldMs: durationMs(MAX_HOLD_MS, { min: SECOND_MS, max: MAX_HOLD_MS }),
};

/** @throws InvalidOptionsError naming every option that makes no sense, not only the first. */
export function resolveLeaseOptions(options?: LeaseOptions): Readonly<ResolvedLeaseOptions> {
  return resolveOptions("lease", options as Record<string, unknown>, RULES, contradictions);
}

/** Why an extension could not be tried again before its lease is over, if so. */
function contradictions(resolved: ResolvedLeaseOptions): readonly string[] {
  const { visibilityTimeoutMs, extendEveryMs, callTimeoutMs, leaseMarginMs, clockMarginMs } =
    resolved;
  const problems: string[] = [];
  if (!Number.isInteger(visibilityTimeoutMs / SECOND_MS)) {
    problems.push(`visibilityTimeoutMs must be whole seconds, got ${visibilityTimeoutMs}`);
  }
  const neededMs = extendEveryMs + 2 * callTimeoutMs + leaseMarginMs + clockMarginMs;
  if (visibilityTimeoutMs < neededMs) {
    problems.push(
      `visibilityTimeoutMs (${visibilityTimeoutMs}) must leave room for extendEveryMs, two calls ` +
        `of callTimeoutMs, leaseMarginMs and clockMarginMs (${neededMs} together), so that a ` +
        "failed extension can be tried again before the lease is over",
    );
  }
  if (resolved.maxHoldMs < visibilityTimeoutMs) {
    problems.push(
      `maxHoldMs (${resolved.maxHoldMs}) must be at least visibilityTimeoutMs (${visibilityTimeoutMs})`,
    );
  }
  return problems;
}
