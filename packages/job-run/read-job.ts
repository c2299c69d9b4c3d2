/** A received message as a job, or the reason why it is none. */

import type { Clock } from "@leasehold/clock";
import {
  type AnyJobDefinition,
  checkPayload,
  fetchPayload,
  type Job,
  type JobIdentity,
  type MessageReader,
  type PayloadStore,
  type RawJob,
  readMessage as readForeignOrOwn,
} from "@leasehold/job";
import type { ReceivedMessage } from "@leasehold/lease";
import { SchemaTimeoutError } from "./errors.ts";
import { within } from "./within.ts";

/** The jobs that a worker knows, by their type. */
export type JobRegistry = ReadonlyMap<string, AnyJobDefinition>;

/** A job that this worker knows, with a payload that nobody has checked. */
export interface UncheckedJob {
  readonly kind: "unchecked";
  readonly job: RawJob;
  readonly definition: AnyJobDefinition;
}

/** What the envelope of a message says. */
export type EnvelopeOfJob = UncheckedJob | Extract<JobReading, { kind: "malformed" | "unknown" }>;

/** What a message turned out to be. */
export type JobReading =
  | {
      readonly kind: "job";
      readonly job: Job;
      readonly definition: AnyJobDefinition;
      /** As it came, before its schema made something of it. */
      readonly raw: RawJob;
    }
  /** Its schema did not answer in time: nobody knows whether its payload is right. */
  | {
      readonly kind: "unanswered";
      readonly job: JobIdentity;
      readonly definition: AnyJobDefinition;
      readonly raw: RawJob;
      readonly error: SchemaTimeoutError;
    }
  | {
      readonly kind: "malformed";
      /** A stable word, for example `"not-json"`. */
      readonly reason: string;
      /** One sentence for an operator; never the payload. */
      readonly detail: string;
      /** As much as the message says about itself. */
      readonly identity: Partial<JobIdentity>;
    }
  /** Well-formed, and for another worker or another time: its type, version or payload is not here. */
  | {
      readonly kind: "unknown";
      readonly reason: "unknown-type" | "newer-version" | "no-payload-store" | "payload-store-down";
      readonly detail: string;
      readonly job: JobIdentity;
    };

/**
 * Reads the envelope, or what one of the readers knows; never throws, whatever the message holds.
 */
export function readMessage(
  message: ReceivedMessage,
  jobs: JobRegistry,
  readers?: readonly MessageReader[],
): EnvelopeOfJob {
  const { messageId, body, sentAtMs } = message;
  const foreign = { messageId, body, attributes: textAttributes(message), sentAtMs };
  const reading = readForeignOrOwn(foreign, readers);
  switch (reading.kind) {
    case "malformed":
      return { ...reading, identity: reading.identity ?? {} };
    case "newer-version": {
      const detail = `envelope version ${reading.version} is newer than this worker`;
      return { kind: "unknown", reason: "newer-version", detail, job: reading.identity };
    }
    case "job":
      return findDefinition(reading.job, jobs);
  }
}

function findDefinition(job: RawJob, jobs: JobRegistry): EnvelopeOfJob {
  const definition = jobs.get(job.jobType);
  if (definition !== undefined) return { kind: "unchecked", job, definition };
  const detail = `no job of type ${job.jobType} is known to this worker`;
  return { kind: "unknown", reason: "unknown-type", detail, job: identityOf(job) };
}

/** Where a payload may lie, and how long it may take to fetch and to check it. */
export interface CheckParts {
  readonly clock: Clock;
  /** For jobs whose definition names no limit of its own. */
  readonly jobTimeoutMs: number;
  /** Resolves when nobody waits for the answer any more. */
  readonly over: Promise<void>;
  /** Where the payloads of claim checks lie. */
  readonly payloadStore?: PayloadStore;
}

/**
 * Fetches the payload, when the message is a claim check, and checks it; never rejects. Both may take
 * as long as the job may; `undefined` when the wait was over before.
 */
export async function checkMessage(
  envelope: EnvelopeOfJob,
  { clock, jobTimeoutMs, over, payloadStore }: CheckParts,
): Promise<JobReading | undefined> {
  if (envelope.kind !== "unchecked") return envelope;
  const timeoutMs = envelope.definition.timeoutMs ?? jobTimeoutMs;
  const tooLate = () => new SchemaTimeoutError(timeoutMs);
  const checked = Promise.race([checkJob(envelope, payloadStore), over.then(() => undefined)]);
  try {
    return await within(checked, { clock, timeoutMs, tooLate });
  } catch (error) {
    if (!(error instanceof SchemaTimeoutError)) throw error;
    const { job: raw, definition } = envelope;
    return { kind: "unanswered", job: identityOf(raw), definition, raw, error };
  }
}

async function checkJob(
  { job: claim, definition }: UncheckedJob,
  store: PayloadStore | undefined,
): Promise<JobReading> {
  const identity = identityOf(claim);
  const fetched = await fetchPayload(claim, store);
  if (fetched.kind === "malformed") return { ...fetched, identity };
  if (fetched.kind === "unavailable") {
    return { kind: "unknown", reason: fetched.reason, detail: fetched.detail, job: identity };
  }
  const raw = { ...claim, payload: fetched.payload };
  const check = await checkPayload(definition.schema, raw.payload);
  if (check.kind === "invalid") {
    const detail = check.problems.join("; ");
    return { kind: "malformed", reason: "invalid-payload", detail, identity };
  }
  const job = { ...identity, payload: check.payload, createdAtMs: raw.createdAtMs };
  return { kind: "job", job, definition, raw };
}

/** Since the producer's send, by SQS's clock, or by the producer's when SQS did not say. */
export function ageOf(
  { sentAtMs }: ReceivedMessage,
  clock: Clock,
  job?: Pick<Job, "createdAtMs">,
): number {
  const bornAtMs = sentAtMs > 0 ? sentAtMs : job?.createdAtMs;
  return bornAtMs === undefined ? 0 : Math.max(0, clock.wallMs() - bornAtMs);
}

/** Who the job is, without what it carries. */
export function identityOf({ tenantId, jobId, jobType }: JobIdentity): JobIdentity {
  return { tenantId, jobId, jobType };
}

/** Attributes as text; bytes are read as UTF-8, so that a binary tenant still must agree. */
function textAttributes(message: ReceivedMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(message.attributes).map(([name, { value }]) => [
    name,
    typeof value === "string" ? value : Buffer.from(value).toString("utf8"),
  ]);
  return Object.fromEntries(entries);
}
