/** What a caller may choose about sending, the defaults, and the ranges that make sense. */

import { count, durationMs, oneOf, resolveOptions, toggle } from "@leasehold/options";

/** How a producer sends. */
export interface ProducerOptions {
  /**
   * Whether the queue keeps order. Then calls go out one after the other, and a call carries at most
   * one job of each group, so that a job that is tried again is never overtaken by its successor.
   * @defaultValue whether the queue's URL ends in `.fifo`, as the name of each such queue must
   */
  readonly fifo?: boolean;
  /** How often a job is put into a request before it counts as failed. @defaultValue 5 */
  readonly maxAttempts?: number;
  /**
   * The longest pause before the second attempt; each further one doubles it. The pause itself is
   * drawn between nothing and that (full jitter), so that many producers do not come back at once.
   * @defaultValue 100
   */
  readonly backoffBaseMs?: number;
  /** The longest pause between two attempts. @defaultValue 5_000 */
  readonly backoffCapMs?: number;
  /**
   * When a call without an answer is given up, and its jobs sent again: the outcome is unknown then.
   * @defaultValue 10_000
   */
  readonly requestTimeoutMs?: number;
  /** How many calls of the producer are open at once; 1 on a FIFO queue. @defaultValue 4 */
  readonly parallelCalls?: number;
  /**
   * How long a job of `send` waits for others to go with it; ten of them go at once. 0 gathers what
   * is sent in the same turn of the event loop, and while all calls are open.
   * @defaultValue 0
   */
  readonly lingerMs?: number;
  /** How many jobs may be under way, from `send` to their results. @defaultValue 10_000 */
  readonly maxBuffered?: number;
  /** How large they may be together; the last one may exceed it. @defaultValue 67_108_864 (64 MiB) */
  readonly maxBufferedBytes?: number;
  /**
   * What `send` does when so many are under way: `wait` takes the job in its turn, when there is
   * room, and answers later; `refuse` answers at once, for callers who can say 503.
   * @defaultValue "wait"
   */
  readonly whenFull?: "wait" | "refuse";
}

/** Every option, resolved. */
export type ResolvedProducerOptions = Required<ProducerOptions>;

/** @throws InvalidOptionsError naming every problem */
export function resolveProducerOptions(
  options: ProducerOptions | undefined,
  queueUrl: string,
): ResolvedProducerOptions {
  return resolveOptions<ResolvedProducerOptions>(
    "producer",
    { ...options },
    {
      fifo: toggle(queueUrl.endsWith(".fifo")),
      maxAttempts: count(5, { min: 1, max: 100 }),
      backoffBaseMs: durationMs(100, { min: 0, max: 60_000 }),
      backoffCapMs: durationMs(5_000, { min: 0, max: 900_000 }),
      requestTimeoutMs: durationMs(10_000, { min: 100, max: 300_000 }),
      parallelCalls: count(({ fifo }) => (fifo === true ? 1 : 4), { min: 1, max: 50 }),
      lingerMs: durationMs(0, { min: 0, max: 60_000 }),
      maxBuffered: count(10_000, { min: 1, max: 10_000_000 }),
      maxBufferedBytes: count(64 * 1_048_576, { min: 1, max: 2 ** 40 }),
      whenFull: oneOf("wait", ["wait", "refuse"]),
    },
    ({ fifo, parallelCalls, backoffBaseMs, backoffCapMs }) => [
      ...(fifo && parallelCalls > 1
        ? [`parallelCalls must be 1 on a FIFO queue, where calls overtake, got ${parallelCalls}`]
        : []),
      ...(backoffBaseMs > backoffCapMs
        ? [`backoffBaseMs (${backoffBaseMs}) must not exceed backoffCapMs (${backoffCapMs})`]
        : []),
    ],
  );
}

/** @throws InvalidOptionsError */
export function resolveCloseOptions(options: { readonly withinMs?: number } | undefined): {
  readonly withinMs: number;
} {
  return resolveOptions<{ readonly withinMs: number }>(
    "close",
    { ...options },
    { withinMs: durationMs(10_000, { min: 0, max: 900_000 }) },
  );
}
