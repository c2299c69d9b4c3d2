/** A job on the wire: message body and attributes, what they may hold, and how they are written. */

import { InvalidPayloadError } from "./errors.ts";
import type { JobIdentity } from "./identity.ts";
import type { Job } from "./job.ts";
import { DEPTH_PROBLEM, nestsTooDeep } from "./nesting.ts";
import type { PayloadRef } from "./payload-store.ts";

/** The version of the envelope that this package writes, and the newest that it reads. */
export const ENVELOPE_VERSION = 1;

/** A job that goes out, with the W3C trace context that it is to carry. */
export interface OutgoingJob extends Job {
  /** Given when the payload lies in a store: the message then names it instead of carrying it. */
  readonly payloadRef?: PayloadRef;
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A job as it came in: its payload has not met its schema yet. */
export interface RawJob extends Job<unknown> {
  /** Given when the payload lies in a store; `payload` is `undefined` then. See `fetchPayload`. */
  readonly payloadRef?: PayloadRef;
}

/** Why a message is no job; a stable word, stored with the dead letter. */
export type MalformedReason =
  | "not-json"
  | "too-deep"
  | "not-an-object"
  | "missing-field"
  | "invalid-field"
  /** An attribute says another tenant, id or type than the body. */
  | "attribute-mismatch"
  /** Said by whoever checks the payload's schema; `readEnvelope` itself never says it. */
  | "invalid-payload";

/** What a message turned out to be. */
export type EnvelopeReading =
  | { readonly kind: "job"; readonly job: RawJob }
  | {
      readonly kind: "malformed";
      readonly reason: MalformedReason;
      /** One sentence for an operator: names the field, never shows the payload. */
      readonly detail: string;
      /** As much as can be told, from the body or else from the attributes; absent when nothing. */
      readonly identity?: Partial<JobIdentity>;
    }
  /** Well-formed, from a newer producer; what else it says is not looked at. */
  | { readonly kind: "newer-version"; readonly identity: JobIdentity; readonly version: number };

/** SQS refuses these two characters in a body, although JSON need not escape them. */
const UNFIT_FOR_SQS = /[\ufffe\uffff]/g;

/**
 * The job as a message body and its string attributes.
 *
 * @throws InvalidPayloadError when JSON cannot carry the payload: `undefined`, a function, a bigint,
 * a circle, or nested too deep
 */
export function writeEnvelope(job: OutgoingJob): {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
} {
  const envelope = {
    v: ENVELOPE_VERSION,
    type: job.jobType,
    job_id: job.jobId,
    tenant_id: job.tenantId,
    created_at: new Date(job.createdAtMs).toISOString(),
  };
  const content =
    job.payloadRef === undefined
      ? `"payload":${writePayload(job.payload)}`
      : `"payload_ref":${JSON.stringify(job.payloadRef)}`;
  const body = `${JSON.stringify(envelope).slice(0, -1)},${content}}`;
  if (nestsTooDeep(body)) throw new InvalidPayloadError([DEPTH_PROBLEM]);
  const attributes = {
    tenant_id: job.tenantId,
    job_id: job.jobId,
    job_type: job.jobType,
    ...(job.traceparent === undefined ? {} : { traceparent: job.traceparent }),
    ...(job.tracestate === undefined ? {} : { tracestate: job.tracestate }),
  };
  return { body, attributes };
}

/**
 * The payload as JSON that SQS takes in a body.
 *
 * @throws InvalidPayloadError when JSON cannot carry it
 */
export function writePayload(payload: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(payload);
  } catch (error) {
    // Only the name: the message of a circle quotes the payload's keys.
    const name = error instanceof Error ? error.name : typeof error;
    throw new InvalidPayloadError([`JSON cannot carry it (${name})`]);
  }
  if (json === undefined) throw new InvalidPayloadError([`JSON cannot carry ${typeof payload}`]);
  return json.replace(UNFIT_FOR_SQS, (unfit) => `\\u${unfit.charCodeAt(0).toString(16)}`);
}
