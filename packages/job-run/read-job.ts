/** A received message as a job, or the reason why it is none. */

import {
  type AnyJobDefinition,
  checkPayload,
  type Job,
  type JobIdentity,
  type RawJob,
  readEnvelope,
} from "@leasehold/job";
import type { ReceivedMessage } from "@leasehold/lease";

/** The jobs that a worker knows, by their type. */
export type JobRegistry = ReadonlyMap<string, AnyJobDefinition>;

/** What a message turned out to be. */
export type JobReading =
  | { readonly kind: "job"; readonly job: Job; readonly definition: AnyJobDefinition }
  | {
      readonly kind: "malformed";
      /** A stable word, for example `"not-json"`. */
      readonly reason: string;
      /** One sentence for an operator; never the payload. */
      readonly detail: string;
      /** As much as the message says about itself. */
      readonly identity: Partial<JobIdentity>;
    }
  /** Well-formed, of a type or version that only another release of the worker knows. */
  | {
      readonly kind: "unknown";
      readonly reason: "unknown-type" | "newer-version";
      readonly detail: string;
      readonly job: JobIdentity;
    };

/** Reads a message; never rejects, whatever it holds. */
export async function readJob(message: ReceivedMessage, jobs: JobRegistry): Promise<JobReading> {
  const reading = readEnvelope(message.body, textAttributes(message));
  switch (reading.kind) {
    case "malformed":
      return { ...reading, identity: reading.identity ?? {} };
    case "newer-version": {
      const detail = `envelope version ${reading.version} is newer than this worker`;
      return { kind: "unknown", reason: "newer-version", detail, job: reading.identity };
    }
    case "job":
      return checkJob(reading.job, jobs);
  }
}

async function checkJob(raw: RawJob, jobs: JobRegistry): Promise<JobReading> {
  const { tenantId, jobId, jobType, createdAtMs } = raw;
  const identity: JobIdentity = { tenantId, jobId, jobType };
  const definition = jobs.get(jobType);
  if (definition === undefined) {
    const detail = `no job of type ${jobType} is known to this worker`;
    return { kind: "unknown", reason: "unknown-type", detail, job: identity };
  }
  const check = await checkPayload(definition.schema, raw.payload);
  if (check.kind === "invalid") {
    const detail = check.problems.join("; ");
    return { kind: "malformed", reason: "invalid-payload", detail, identity };
  }
  return { kind: "job", job: { ...identity, payload: check.payload, createdAtMs }, definition };
}

/** Attributes as text; bytes are read as UTF-8, so that a binary tenant still must agree. */
function textAttributes(message: ReceivedMessage): Readonly<Record<string, string>> {
  const entries = Object.entries(message.attributes).map(([name, { value }]) => [
    name,
    typeof value === "string" ? value : Buffer.from(value).toString("utf8"),
  ]);
  return Object.fromEntries(entries);
}
