/** A job: its type, its identity, its payload, and the handler that works it. */

import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JobIdentity } from "./identity.ts";
import type { JobContext } from "./job-context.ts";

/** One job as its handler sees it. */
export interface Job<Payload = unknown> extends JobIdentity {
  readonly payload: Payload;
  /** When the producer made it, Unix time. */
  readonly createdAtMs: number;
}

/**
 * Works one job. Returning acks it. Throwing retries it with growing delay, `RetryLaterError`
 * retries it then, `PermanentJobError` dead-letters it.
 *
 * After `context.signal` has aborted, returning does not ack (`if (signal.aborted) return` is how
 * handlers stop): return `context.done(result)` when the work is complete all the same.
 */
export type JobHandler<Payload> = (job: Job<Payload>, context: JobContext) => unknown;

/** What a service says about one type of job. */
export interface JobDefinition<Type extends string = string, Input = unknown, Payload = unknown> {
  /** Lower-case words joined by dots, for example `receipt.render`; renaming it makes new jobs. */
  readonly type: Type;
  /** Any Standard Schema (zod, valibot, arktype, ...). The producer checks it, and the worker again. */
  readonly schema: StandardSchemaV1<Input, Payload>;
  readonly handler: JobHandler<Payload>;
  /**
   * The longest that one run may take before its signal aborts and the run counts as failed.
   * @defaultValue the contract's `worker.jobTimeoutMs`
   */
  readonly timeoutMs?: number;
  /**
   * The most runs of this type at the same time in one worker; what comes above it is held, leased
   * and unstarted, without a slot. A whole number, 1 to 1,000.
   * @defaultValue as many as there are slots
   */
  readonly maxConcurrent?: number;
  /**
   * Every delivery is recorded in the job ledger before its handler starts, at the price of one write:
   * then no delivery runs beside another, a job that was done or cancelled never starts, and one that
   * is too old to be proved is left to an operator. Needs a ledger.
   * @defaultValue false: recorded with its first effect, or at its second delivery
   */
  readonly guard?: boolean;
  /**
   * The handler reads `context.checkpoint`, so every delivery loads it first. Needs a ledger.
   * @defaultValue false
   */
  readonly checkpoints?: boolean;
}

/**
 * Defines a type of job; the payload's type comes from the schema.
 *
 * @example
 * const greet = defineJob({
 *   type: "mail.greet",
 *   schema: z.object({ name: z.string() }),
 *   handler: async (job) => console.log(`hello ${job.payload.name}`),
 * });
 */
export function defineJob<const Type extends string, Input, Payload>(
  definition: JobDefinition<Type, Input, Payload>,
): JobDefinition<Type, Input, Payload> {
  return Object.freeze({ ...definition });
}

/** A definition of any payload, for lists of them. */
// biome-ignore lint/suspicious/noExplicitAny: a list of handlers is contravariant in their payloads
export type AnyJobDefinition = JobDefinition<string, any, any>;
