/** What a caller may choose about a worker that no contract says. */

import {
  count,
  durationMs,
  type OptionRules,
  resolveOptions,
  share,
  toggle,
} from "@leasehold/options";

/** What a caller may choose about a worker. */
export interface WorkerOptions {
  /**
   * Whether unfinished work that was given back in time still ends in exit code 0, for platforms
   * that raise an alarm on any other.
   * @defaultValue false
   */
  readonly exitZeroOnRelease?: boolean;
  /**
   * How long a queue may fail before the worker ends: by any fault at the start, later by one that
   * does not pass by itself (the queue is gone, access is denied).
   * @defaultValue 30_000
   */
  readonly claimPatienceMs?: number;
  /**
   * The most jobs of one tenant that run at the same time in this worker, 1 to 1,000. What comes
   * above it is held: leased and extended, unstarted and without a slot, up to the contract's
   * `worker.holdLimit` for each queue; from there on the queue is polled less. It is never released
   * for the cap, which would cost a receive.
   * @defaultValue 1_000: as many as there are slots
   */
  readonly maxPerTenant?: number;
  /**
   * The share of the memory limit above which nothing is claimed, 0.1 to 1. Jobs that run go on, and
   * liveness is not touched.
   * @defaultValue 0.9
   */
  readonly memoryGuardShare?: number;
}

/** Every option, resolved. */
export type ResolvedWorkerOptions = Required<WorkerOptions>;

const RULES: OptionRules<ResolvedWorkerOptions> = {
  exitZeroOnRelease: toggle(false),
  claimPatienceMs: durationMs(30_000, { min: 0, max: 3_600_000 }),
  maxPerTenant: count(1_000, { min: 1, max: 1_000 }),
  memoryGuardShare: share(0.9, { min: 0.1, max: 1 }),
};

/** @throws InvalidOptionsError naming every option that makes no sense, not only the first */
export function resolveWorkerOptions(options?: WorkerOptions): Readonly<ResolvedWorkerOptions> {
  return resolveOptions("worker", options as Record<string, unknown> | undefined, RULES);
}
