/** What a caller may choose about jobs in Lambda, and the defaults. */

import { count, durationMs, type OptionRules, resolveOptions } from "@leasehold/options";

/** What a caller may choose about jobs in Lambda. */
export interface LambdaOptions {
  /**
   * Jobs of one batch that run at the same time, 1 to 1,000.
   * @defaultValue 10
   */
  readonly concurrency?: number;
  /**
   * The last part of the invocation in which no job starts any more; what has not started by then is
   * reported as failed, and is visible to others at once when the queue is known.
   * @defaultValue 5_000
   */
  readonly lastStartMs?: number;
  /**
   * How long before the end of the invocation the signals of running jobs abort.
   * @defaultValue 3_000
   */
  readonly abortMs?: number;
  /**
   * How long before the end of the invocation its answer leaves, whatever still runs.
   * @defaultValue 1_000
   */
  readonly answerMs?: number;
  /**
   * The visibility timeout of the queue, whole seconds. When it is known, messages that it covers
   * to the end of the invocation need no extension; without it each batch is extended once.
   * @defaultValue 0, unknown
   */
  readonly queueVisibilityTimeoutMs?: number;
  /**
   * For jobs whose definition names no limit of its own.
   * @defaultValue 900_000
   */
  readonly jobTimeoutMs?: number;
  /** Failures after which a job is dead-lettered. @defaultValue 5 */
  readonly maxAttempts?: number;
  /** Interruptions without progress after which it is. @defaultValue 10 */
  readonly interruptionBudget?: number;
  /** Starts without an end after which it runs alone, and then is. @defaultValue 3 */
  readonly crashBudget?: number;
  /** @defaultValue 5_000 */
  readonly backoffBaseMs?: number;
  /** @defaultValue 900_000 */
  readonly backoffCapMs?: number;
  /** How long a job of an unknown type waits for a function that knows it. @defaultValue 3_600_000 */
  readonly unknownTypeGraceMs?: number;
}

/** Every option, resolved. */
export type ResolvedLambdaOptions = Required<LambdaOptions>;

/** Lambda ends every invocation after this long. */
const LONGEST_INVOCATION_MS = 900_000;
const HOUR_MS = 3_600_000;
const TWELVE_HOURS_MS = 12 * HOUR_MS;
const invocationPart = { min: 100, max: LONGEST_INVOCATION_MS };

const RULES: OptionRules<ResolvedLambdaOptions> = {
  concurrency: count(10, { min: 1, max: 1_000 }),
  lastStartMs: durationMs(5_000, invocationPart),
  abortMs: durationMs(3_000, invocationPart),
  answerMs: durationMs(1_000, invocationPart),
  queueVisibilityTimeoutMs: durationMs(0, { min: 0, max: TWELVE_HOURS_MS }),
  jobTimeoutMs: durationMs(LONGEST_INVOCATION_MS, { min: 1, max: TWELVE_HOURS_MS }),
  maxAttempts: count(5, { min: 1, max: 1_000 }),
  interruptionBudget: count(10, { min: 1, max: 1_000 }),
  crashBudget: count(3, { min: 1, max: 1_000 }),
  backoffBaseMs: durationMs(5_000, { min: 1, max: TWELVE_HOURS_MS }),
  backoffCapMs: durationMs(900_000, { min: 1, max: TWELVE_HOURS_MS }),
  unknownTypeGraceMs: durationMs(HOUR_MS, { min: 0, max: 14 * 24 * HOUR_MS }),
};

/** @throws InvalidOptionsError naming every option that makes no sense, not only the first */
export function resolveLambdaOptions(options?: LambdaOptions): Readonly<ResolvedLambdaOptions> {
  const given = options as Record<string, unknown> | undefined;
  return resolveOptions("lambda", given, RULES, contradictions);
}

function contradictions(resolved: ResolvedLambdaOptions): readonly string[] {
  const { lastStartMs, abortMs, answerMs, backoffBaseMs, backoffCapMs } = resolved;
  return [
    ...(lastStartMs >= abortMs
      ? []
      : [
          `lastStartMs (${lastStartMs}) must be at least abortMs (${abortMs}): nothing may start late`,
        ]),
    ...(abortMs > answerMs
      ? []
      : [`abortMs (${abortMs}) must be more than answerMs (${answerMs}): jobs need time to stop`]),
    ...(backoffCapMs >= backoffBaseMs
      ? []
      : [`backoffCapMs (${backoffCapMs}) must be at least backoffBaseMs (${backoffBaseMs})`]),
  ];
}
