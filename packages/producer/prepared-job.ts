/** A job made ready to be sent, or refused before anything is sent. */

import {
  checkPayload,
  InvalidIdentityError,
  InvalidPayloadError,
  type JobDefinition,
  type JobIdentity,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { JobTooLargeError, UnsendableJobError } from "./errors.ts";
import { type MessageEntry, writeEntry } from "./message-entry.ts";

/** What a producer must know of a type of job: a `JobDefinition`, or as much of it as it shares. */
export type JobKind<Input = unknown> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: what the handler gets does not matter here
  JobDefinition<string, Input, any>,
  "type" | "schema"
>;

/** A job to send. */
export interface JobToSend<Payload = unknown> {
  readonly tenantId: string;
  /**
   * The job's business identity, for example an invoice id and its version: sending the same job
   * again is then the same job.
   * @defaultValue a new UUID of version 7: each call makes another job
   */
  readonly jobId?: string;
  readonly payload: Payload;
  /** Rounded up to whole seconds; 0..900,000, and 0 on FIFO queues. @defaultValue 0 */
  readonly delayMs?: number;
  /** FIFO queues only: jobs of the same key come in order. @defaultValue the tenant */
  readonly orderingKey?: string;
  /** W3C trace context, carried as attributes. */
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A job to send, and its kind; a bare type sends the payload unchecked. */
export type TypedJobToSend = JobToSend & { readonly type: string | JobKind };

/** Why a job is not even tried. */
export type UnpreparedError =
  | InvalidIdentityError
  | InvalidPayloadError
  | UnsendableJobError
  | JobTooLargeError;

/** A job that may go out, or why it may not. */
export type Preparation =
  | { readonly kind: "ready"; readonly jobId: string; readonly entry: MessageEntry }
  | { readonly kind: "refused"; readonly error: UnpreparedError };

/** What preparing depends on beside the job. */
export interface PreparationFacts {
  readonly fifo: boolean;
  readonly createdAtMs: number;
  readonly newJobId: () => string;
}

/**
 * The job as the entry that carries it.
 *
 * The payload is checked by the schema and goes out as it was given, not as the schema made it: the
 * worker checks it by the same schema, and must find what the schema takes in.
 */
export async function prepareJob(
  job: TypedJobToSend,
  facts: PreparationFacts,
): Promise<Preparation> {
  try {
    const identity = identify(job, facts.newJobId);
    if (typeof job.type !== "string") await refuseInvalid(job.type, job.payload);
    return { kind: "ready", jobId: identity.jobId, entry: write(job, identity, facts) };
  } catch (error) {
    if (isExpected(error)) return { kind: "refused", error };
    throw error;
  }
}

function identify(job: TypedJobToSend, newJobId: () => string): JobIdentity {
  return {
    tenantId: parseTenantId(job.tenantId),
    jobId: parseJobId(job.jobId ?? newJobId()),
    jobType: parseJobType(typeof job.type === "string" ? job.type : job.type.type),
  };
}

async function refuseInvalid(kind: JobKind, payload: unknown): Promise<void> {
  const check = await checkPayload(kind.schema, payload);
  if (check.kind === "invalid") throw new InvalidPayloadError(check.problems);
}

function write(
  { payload, delayMs = 0, orderingKey, traceparent, tracestate }: TypedJobToSend,
  identity: JobIdentity,
  { fifo, createdAtMs }: PreparationFacts,
): MessageEntry {
  // SQS takes no empty attribute, so an empty trace context is none.
  const trace = { ...(traceparent ? { traceparent } : {}), ...(tracestate ? { tracestate } : {}) };
  const delivery = { fifo, delayMs, ...(orderingKey === undefined ? {} : { orderingKey }) };
  return writeEntry({ ...identity, payload, createdAtMs, ...trace }, delivery);
}

function isExpected(error: unknown): error is UnpreparedError {
  return (
    error instanceof InvalidIdentityError ||
    error instanceof InvalidPayloadError ||
    error instanceof UnsendableJobError ||
    error instanceof JobTooLargeError
  );
}
