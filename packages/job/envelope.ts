/** A job on the wire: message body and attributes, written and read. */

import { InvalidIdentityError, InvalidPayloadError } from "./errors.ts";
import { type JobIdentity, parseJobId, parseJobType, parseTenantId } from "./identity.ts";
import type { Job } from "./job.ts";
import { MAX_NESTING, nestsTooDeep } from "./nesting.ts";

/** The version of the envelope that this package writes, and the newest that it reads. */
const ENVELOPE_VERSION = 1;

/** A job that goes out, with the W3C trace context that it is to carry. */
export interface OutgoingJob extends Job {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A job as it came in: its payload has not met its schema yet. */
export type RawJob = Job<unknown>;

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
  const payload = writePayload(job.payload);
  const body = `${JSON.stringify(envelope).slice(0, -1)},"payload":${payload}}`;
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

const DEPTH_PROBLEM = `it nests deeper than ${MAX_NESTING} levels`;

function writePayload(payload: unknown): string {
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

/**
 * What a message is. Never throws, whatever the text.
 *
 * The body decides; an attribute may be absent but must not disagree, so that what operators filter
 * by is what runs. A key that stands twice counts as `JSON.parse` has it: the last one. Keys like
 * `__proto__` are data and stay within the payload. Every version of the envelope keeps the three
 * identity fields and `v`, so that an old worker can name the job that it gives back.
 *
 * @param attributes - the message's attributes as text
 */
export function readEnvelope(
  body: string,
  attributes: Readonly<Record<string, string>>,
): EnvelopeReading {
  try {
    return readFields(parseBody(body), attributes);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const identity = partialIdentity(error.fields, attributes);
    return {
      kind: "malformed",
      reason: error.reason,
      detail: error.message,
      ...(identity === undefined ? {} : { identity }),
    };
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Leaves the reading at the first fault; caught by `readEnvelope`, seen by nobody else. */
class Malformed extends Error {
  readonly reason: MalformedReason;
  readonly fields: Fields;

  constructor(reason: MalformedReason, detail: string, fields: Fields = {}) {
    super(detail);
    this.reason = reason;
    this.fields = fields;
  }
}

function parseBody(body: string): Fields {
  if (nestsTooDeep(body)) throw new Malformed("too-deep", `the body: ${DEPTH_PROBLEM}`);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The parser's own message quotes the body, so it is not passed on.
    const start = body.startsWith("\ufeff") ? ", it starts with a byte order mark" : "";
    throw new Malformed("not-json", `the body is not JSON (${body.length} characters${start})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Malformed("not-an-object", `the body is ${kindOf(value)}, not a JSON object`);
  }
  return value as Fields;
}

function readFields(fields: Fields, attributes: Readonly<Record<string, string>>): EnvelopeReading {
  const version = readVersion(fields);
  const identity = readIdentity(fields);
  refuseMismatch(fields, identity, attributes);
  if (version > ENVELOPE_VERSION) return { kind: "newer-version", identity, version };
  const createdAtMs = readCreatedAt(fields);
  return { kind: "job", job: { ...identity, payload: field(fields, "payload"), createdAtMs } };
}

function field(fields: Fields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  throw new Malformed("missing-field", `${name} is missing`, fields);
}

function readVersion(fields: Fields): number {
  const version = field(fields, "v");
  if (Number.isSafeInteger(version) && (version as number) >= 1) return version as number;
  const shown = typeof version === "number" ? String(version) : kindOf(version);
  throw new Malformed("invalid-field", `v must be a whole number from 1, got ${shown}`, fields);
}

function readIdentity(fields: Fields): JobIdentity {
  const [tenantId, jobId, jobType] = [
    field(fields, "tenant_id"),
    field(fields, "job_id"),
    field(fields, "type"),
  ];
  try {
    return {
      tenantId: parseTenantId(tenantId),
      jobId: parseJobId(jobId),
      jobType: parseJobType(jobType),
    };
  } catch (error) {
    if (!(error instanceof InvalidIdentityError)) throw error;
    throw new Malformed("invalid-field", error.message, fields);
  }
}

function refuseMismatch(
  fields: Fields,
  { tenantId, jobId, jobType }: JobIdentity,
  attributes: Readonly<Record<string, string>>,
): void {
  const said = { tenant_id: tenantId, job_id: jobId, job_type: jobType };
  const wrong = Object.entries(said)
    .filter(([name, value]) => Object.hasOwn(attributes, name) && attributes[name] !== value)
    .map(([name]) => name);
  if (wrong.length === 0) return;
  const detail = `attribute and body disagree on ${wrong.join(", ")}`;
  throw new Malformed("attribute-mismatch", detail, fields);
}

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const DATE_AND_SECONDS = "YYYY-MM-DDTHH:MM:SS".length;

function readCreatedAt(fields: Fields): number {
  const value = field(fields, "created_at");
  const refuse = (got: string) => {
    const rule = "created_at must be an ISO 8601 time in UTC, as 2026-01-31T12:00:00.000Z";
    return new Malformed("invalid-field", `${rule}, got ${got}`, fields);
  };
  if (typeof value !== "string") throw refuse(kindOf(value));
  if (!ISO_UTC.test(value)) throw refuse(`another text (${value.length} characters)`);
  const createdAtMs = Date.parse(value);
  // The parser takes 30 February for 2 March, and hour 24 for the next day.
  const isReal =
    Number.isFinite(createdAtMs) &&
    new Date(createdAtMs).toISOString().startsWith(value.slice(0, DATE_AND_SECONDS));
  if (!isReal) throw refuse(value);
  return createdAtMs;
}

function partialIdentity(
  fields: Fields,
  attributes: Readonly<Record<string, string>>,
): Partial<JobIdentity> | undefined {
  const pick = <Id>(parse: (value: unknown) => Id, name: string, attribute: string) =>
    attempt(parse, own(fields, name)) ?? attempt(parse, own(attributes, attribute));
  const tenantId = pick(parseTenantId, "tenant_id", "tenant_id");
  const jobId = pick(parseJobId, "job_id", "job_id");
  const jobType = pick(parseJobType, "type", "job_type");
  const identity = {
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(jobId === undefined ? {} : { jobId }),
    ...(jobType === undefined ? {} : { jobType }),
  };
  return Object.keys(identity).length === 0 ? undefined : identity;
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function attempt<Id>(parse: (value: unknown) => Id, value: unknown): Id | undefined {
  try {
    return parse(value);
  } catch (error) {
    if (error instanceof InvalidIdentityError) return undefined;
    throw error;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
