/** What a caller may choose about a worker that no contract says. */

import { durationMs, type OptionRules, resolveOptions, toggle } from "@leasehold/options";

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
}

/** Every option, resolved. */
export type ResolvedWorkerOptions = Required<WorkerOptions>;

const RULES: OptionRules<ResolvedWorkerOptions> = {
  exitZeroOnRelease: toggle(false),
  claimPatienceMs: durationMs(30_000, { min: 0, max: 3_600_000 }),
};

/** @throws InvalidOptionsError naming every option that makes no sense, not only the first */
export function resolveWorkerOptions(options?: WorkerOptions): Readonly<ResolvedWorkerOptions> {
  return resolveOptions("worker", options as Record<string, unknown> | undefined, RULES);
}
