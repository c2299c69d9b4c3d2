/** Makes the claim to a payload that its message does not carry, and redeems it. */

import { createHash } from "node:crypto";
import { type RawJob, writePayload } from "./envelope.ts";
import { InvalidPayloadError } from "./errors.ts";
import type { JobIdentity, JobType, TenantId } from "./identity.ts";
import { DEPTH_PROBLEM, nestsTooDeep } from "./nesting.ts";
import type { PayloadRef, PayloadStore } from "./payload-store.ts";

/** What came of asking for a job's payload. */
export type PayloadFetch =
  | { readonly kind: "ok"; readonly payload: unknown }
  /** It will never come: nothing lies there any more, or something else than was sent. */
  | {
      readonly kind: "malformed";
      readonly reason: "payload-gone" | "payload-mismatch";
      /** One sentence for an operator; never the payload. */
      readonly detail: string;
    }
  /** Not here or not now: give the message back, for later or for another release of the worker. */
  | {
      readonly kind: "unavailable";
      readonly reason: "no-payload-store" | "payload-store-down";
      readonly detail: string;
      readonly cause?: unknown;
    };

/** A payload on its way into a store. */
export interface PayloadClaim {
  /** What the job's message is to carry instead. */
  readonly ref: PayloadRef;
  readonly key: string;
  readonly json: string;
}

/**
 * What to put into a store for a job whose payload is too large for its message. The message may go
 * out once the store has it.
 *
 * @throws InvalidPayloadError when JSON cannot carry the payload
 */
export function claimPayload(job: JobIdentity & { readonly payload: unknown }): PayloadClaim {
  const json = writePayload(job.payload);
  if (nestsTooDeep(json)) throw new InvalidPayloadError([DEPTH_PROBLEM]);
  const ref = { sha256: sha256(json), bytes: Buffer.byteLength(json) };
  return { ref, key: payloadKey(job, ref), json };
}

/** The payload of a job that came in, wherever it lies; never rejects. */
export async function fetchPayload(
  job: RawJob,
  store: PayloadStore | undefined,
): Promise<PayloadFetch> {
  const { payloadRef } = job;
  if (payloadRef === undefined) return { kind: "ok", payload: job.payload };
  if (store === undefined) {
    const detail = "its payload lies in a store, and this worker was given none";
    return { kind: "unavailable", reason: "no-payload-store", detail };
  }
  const key = payloadKey(job, payloadRef);
  try {
    const json = await store.get(key);
    if (json !== undefined) return readStored(json, payloadRef, key);
    const detail = `no payload lies at ${key}: deleted, or the producer has another store`;
    return { kind: "malformed", reason: "payload-gone", detail };
  } catch (cause) {
    const detail = `the store did not hand out ${key}`;
    return { kind: "unavailable", reason: "payload-store-down", detail, cause };
  }
}

function readStored(json: string, ref: PayloadRef, key: string): PayloadFetch {
  const mismatch = (problem: string): PayloadFetch => ({
    kind: "malformed",
    reason: "payload-mismatch",
    detail: `what lies at ${key} ${problem}`,
  });
  if (Buffer.byteLength(json) !== ref.bytes || sha256(json) !== ref.sha256) {
    return mismatch("is not what was sent");
  }
  if (nestsTooDeep(json)) return mismatch(`is no payload: ${DEPTH_PROBLEM}`);
  try {
    return { kind: "ok", payload: JSON.parse(json) };
  } catch {
    return mismatch("is not JSON"); // The parser's own message quotes the payload.
  }
}

const READABLE_CHARACTERS = 40;
const HASH_CHARACTERS = 16;

/**
 * Where a payload lies. It follows from the job itself, so that a message cannot name the payload
 * of another tenant, nor a place outside of the store.
 */
function payloadKey(
  { tenantId, jobType }: { readonly tenantId: TenantId; readonly jobType: JobType },
  { sha256: digest }: PayloadRef,
): string {
  const readable = tenantId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, READABLE_CHARACTERS);
  const tenant = `${readable}~${sha256(tenantId).slice(0, HASH_CHARACTERS)}`;
  return `${tenant}/${jobType}/${digest}.json`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
