/** Reads a message as a job, or says why it is none; never throws. */

import { ENVELOPE_VERSION, type EnvelopeReading, type MalformedReason } from "./envelope.ts";
import { InvalidIdentityError } from "./errors.ts";
import { type JobIdentity, parseJobId, parseJobType, parseTenantId } from "./identity.ts";
import { DEPTH_PROBLEM, nestsTooDeep } from "./nesting.ts";
import type { PayloadRef } from "./payload-store.ts";

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
  const payloadRef = readPayloadRef(fields);
  if (payloadRef !== undefined) {
    return { kind: "job", job: { ...identity, payload: undefined, payloadRef, createdAtMs } };
  }
  return { kind: "job", job: { ...identity, payload: field(fields, "payload"), createdAtMs } };
}

const SHA256 = /^[0-9a-f]{64}$/;

function readPayloadRef(fields: Fields): PayloadRef | undefined {
  if (!Object.hasOwn(fields, "payload_ref")) return undefined;
  const refuse = (detail: string) => new Malformed("invalid-field", detail, fields);
  if (Object.hasOwn(fields, "payload")) throw refuse("payload and payload_ref exclude each other");
  const ref: Partial<Record<keyof PayloadRef, unknown>> = Object(fields["payload_ref"]);
  const { sha256, bytes } = ref;
  if (typeof sha256 !== "string" || !SHA256.test(sha256)) {
    throw refuse("payload_ref.sha256 must be 64 hexadecimal digits in lower case");
  }
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 1) {
    throw refuse("payload_ref.bytes must be a whole number from 1");
  }
  return { sha256, bytes: bytes as number };
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
