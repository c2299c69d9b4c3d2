/** What a caller may choose about sending, the defaults, and the ranges that make sense. */

import { count, durationMs, resolveOptions, toggle } from "@leasehold/options";

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
  /** How many calls of one `sendMany` are open at once; 1 on a FIFO queue. @defaultValue 4 */
  readonly parallelCalls?: number;
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
