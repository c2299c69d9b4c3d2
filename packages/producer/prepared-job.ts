/** A job made ready to be sent, or refused before anything is sent. */

import {
  checkPayload,
  claimPayload,
  InvalidIdentityError,
  InvalidPayloadError,
  type JobIdentity,
  type OutgoingJob,
  type PayloadClaim,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { JobTooLargeError, UnsendableJobError } from "./errors.ts";
import type { AnyJobKind, JobKind, JobKinds } from "./job-kind.ts";
import type { JobToSend } from "./job-to-send.ts";
import { type Delivery, type MessageEntry, writeEntry } from "./message-entry.ts";
import type { TraceContext } from "./trace-context.ts";

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
  | {
      readonly kind: "ready";
      readonly identity: JobIdentity;
      readonly entry: MessageEntry;
      /** What a store must have before the entry may go out. */
      readonly claim?: PayloadClaim;
    }
  | { readonly kind: "refused"; readonly error: UnpreparedError };

/** What preparing depends on beside the job. */
export interface PreparationFacts {
  readonly fifo: boolean;
  readonly kinds: JobKinds;
  /** Whether there is a store for payloads that are too large. */
  readonly hasStore: boolean;
  readonly createdAtMs: number;
  /** Of a job that has none of its own. */
  readonly jobId: string;
  /** Of a job that has none of its own. */
  readonly trace: TraceContext;
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
    refuseUnknownFields(job);
    const identity = identify(job, facts.jobId);
    const kind = facts.kinds.find(job.type);
    if (kind !== undefined) await refuseInvalid(kind, job.payload);
    return { kind: "ready", identity, ...write(job, identity, facts) };
  } catch (error) {
    if (isExpected(error)) return { kind: "refused", error };
    throw error;
  }
}

const FIELDS: Readonly<Record<keyof TypedJobToSend, true>> = {
  ...{ type: true, tenantId: true, jobId: true, payload: true, delayMs: true, orderingKey: true },
  ...{ attributes: true, traceparent: true, tracestate: true, awsTraceHeader: true },
};

/** A field that nobody reads is a misspelt one: a delay that does not delay, an id that is made up. */
function refuseUnknownFields(job: TypedJobToSend): void {
  if (typeof job !== "object" || job === null) {
    const got = job === null ? "null" : `a ${typeof job}`;
    throw new UnsendableJobError(`a job must be an object with tenantId and payload, got ${got}`);
  }
  const unknown = Object.keys(job).filter((name) => !Object.hasOwn(FIELDS, name));
  if (unknown.length === 0) return;
  throw new UnsendableJobError(
    `${unknown.join(", ")} is no field of a job; known are ${Object.keys(FIELDS).join(", ")}`,
  );
}

function identify(job: TypedJobToSend, madeUpId: string): JobIdentity {
  return {
    tenantId: parseTenantId(job.tenantId),
    jobId: parseJobId(job.jobId ?? madeUpId),
    jobType: parseJobType(typeof job.type === "string" ? job.type : job.type?.type),
  };
}

async function refuseInvalid(kind: AnyJobKind, payload: unknown): Promise<void> {
  const check = await checkPayload(kind.schema, payload);
  if (check.kind === "invalid") throw new InvalidPayloadError(check.problems);
}

function write(
  job: TypedJobToSend,
  identity: JobIdentity,
  facts: PreparationFacts,
): { readonly entry: MessageEntry; readonly claim?: PayloadClaim } {
  const { payload, delayMs = 0, orderingKey, attributes, awsTraceHeader } = job;
  const { createdAtMs, fifo, hasStore } = facts;
  const outgoing: OutgoingJob = { ...identity, payload, createdAtMs, ...traceOf(job, facts.trace) };
  const delivery: Delivery = {
    ...{ fifo, delayMs },
    ...(orderingKey === undefined ? {} : { orderingKey }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(awsTraceHeader === undefined ? {} : { awsTraceHeader }),
  };
  try {
    return { entry: writeEntry(outgoing, delivery) };
  } catch (error) {
    if (!(hasStore && error instanceof JobTooLargeError)) throw error;
    const claim = claimPayload(outgoing);
    return { entry: writeEntry({ ...outgoing, payloadRef: claim.ref }, delivery), claim };
  }
}

/** The job's own trace or else the active one, never a mixture; SQS takes no empty attribute. */
function traceOf({ traceparent, tracestate }: JobToSend, active: TraceContext): TraceContext {
  if (traceparent === undefined && tracestate === undefined) return active;
  for (const [name, value] of Object.entries({ traceparent, tracestate })) {
    if (value === undefined || typeof value === "string") continue;
    throw new UnsendableJobError(`${name} must be a text, got a ${typeof value}`);
  }
  return { ...(traceparent ? { traceparent } : {}), ...(tracestate ? { tracestate } : {}) };
}

function isExpected(error: unknown): error is UnpreparedError {
  return (
    error instanceof InvalidIdentityError ||
    error instanceof InvalidPayloadError ||
    error instanceof UnsendableJobError ||
    error instanceof JobTooLargeError
  );
}
