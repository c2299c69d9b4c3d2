/** Middleware: the handler's event is the job, its payload checked. */

import {
  checkPayload,
  fetchPayload,
  type Job,
  type JobDefinition,
  type PayloadStore,
  PermanentJobError,
  type RawJob,
  readEnvelope,
} from "@leasehold/job";
import type { ReceivedMessage } from "@leasehold/lease";
import { MiddlewareUseError } from "./errors.ts";
import { type JobMiddleware, JobSurroundings } from "./job-surroundings.ts";
import { readBatch } from "./sqs-event.ts";

type Schema<Input, Payload> = JobDefinition<string, Input, Payload>["schema"];

/**
 * Makes the job the handler's event.
 *
 * A job that a worker or `lambdaHandler` runs has been read and checked; it is handed on as it is. In
 * a function that Lambda calls by itself the middleware reads and checks the one message of the event.
 *
 * @param schema - the same as in the job's definition
 */
export function jobEnvelope<Input, Payload>(
  schema: Schema<Input, Payload>,
  { payloadStore }: { readonly payloadStore?: PayloadStore } = {},
): JobMiddleware<Job<Payload>> {
  return {
    before: async (request) => {
      const known = JobSurroundings.find(request.context)?.job as Job<Payload> | undefined;
      request.event = known ?? (await readOnly(request.event, schema, payloadStore));
    },
  };
}

async function readOnly<Input, Payload>(
  event: unknown,
  schema: Schema<Input, Payload>,
  store: PayloadStore | undefined,
): Promise<Job<Payload>> {
  const { items } = readBatch(event);
  const [item] = items;
  if (item === undefined || items.length > 1) {
    throw new MiddlewareUseError(
      `jobEnvelope reads events of one message, got ${items.length}: set the batch size to 1, or let ` +
        "lambdaHandler run the batch",
    );
  }
  const raw = await readRaw(item.receipt.message, store);
  const check = await checkPayload(schema, raw.payload);
  if (check.kind === "invalid") throw malformed("invalid-payload", check.problems.join("; "));
  const { tenantId, jobId, jobType, createdAtMs } = raw;
  return { tenantId, jobId, jobType, createdAtMs, payload: check.payload };
}

async function readRaw(
  { body, attributes }: ReceivedMessage,
  store: PayloadStore | undefined,
): Promise<RawJob> {
  const texts = Object.entries(attributes).map(([name, { value }]) => [
    name,
    typeof value === "string" ? value : Buffer.from(value).toString("utf8"),
  ]);
  const reading = readEnvelope(body, Object.fromEntries(texts));
  if (reading.kind === "malformed") throw malformed(reading.reason, reading.detail);
  if (reading.kind === "newer-version") {
    throw new Error(`envelope version ${reading.version} is newer than this function`);
  }
  const fetched = await fetchPayload(reading.job, store);
  if (fetched.kind === "malformed") throw malformed(fetched.reason, fetched.detail);
  if (fetched.kind === "unavailable") throw new Error(fetched.detail);
  return { ...reading.job, payload: fetched.payload };
}

function malformed(reason: string, detail: string): PermanentJobError {
  return new PermanentJobError(`${reason}: ${detail}`);
}
