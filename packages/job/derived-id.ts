/** Ids made from other ids: for SQS's small alphabet, for deduplication, for child jobs. Pure. */

import { createHash } from "node:crypto";
import { InvalidIdentityError } from "./errors.ts";
import { type JobId, type JobIdentity, MAX_ID_BYTES, parseJobId } from "./identity.ts";

/**
 * The longest MessageGroupId and MessageDeduplicationId.
 * @see SQS API Reference, "SendMessage"
 */
const MAX_SQS_ID_CHARACTERS = 128;
/** Letters, digits and punctuation of ASCII: all that SQS takes in these two ids. */
const SQS_ID = /^[\x21-\x7e]+$/;
const UNFIT_FOR_SQS = /[^\x21-\x7e]/g;
const HASHED = /~[0-9a-f]{64}$/;
const HASH_MARK_CHARACTERS = 65;

/**
 * The text as SQS takes it in MessageGroupId and MessageDeduplicationId: unchanged when it fits,
 * else a readable beginning, `~`, and its SHA-256. Two texts never share an id: one that only looks
 * hashed is hashed itself.
 */
export function toSqsId(text: string): string {
  const fits = text.length <= MAX_SQS_ID_CHARACTERS && SQS_ID.test(text) && !HASHED.test(text);
  if (fits) return text;
  const readable = text.slice(0, MAX_SQS_ID_CHARACTERS - HASH_MARK_CHARACTERS);
  return `${readable.replace(UNFIT_FOR_SQS, "_")}~${sha256(text)}`;
}

/**
 * The MessageDeduplicationId of a job: the same for each send of the same job, another one for any
 * other tenant, type or id.
 */
export function deduplicationId({ jobType, tenantId, jobId }: JobIdentity): string {
  return toSqsId(`${jobType}/${encodeURIComponent(tenantId)}/${encodeURIComponent(jobId)}`);
}

/**
 * The identity of a child job, from its parent and the name given to it: a repeated run of the
 * parent sends the same child. Type and tenant of the parent are part of it, because its id is
 * unique only within them.
 *
 * @param name - unique within the parent
 * @throws InvalidIdentityError when the name is empty or not well-formed Unicode
 */
export function childJobId(parent: JobIdentity, name: string): JobId {
  if (name === "" || !name.isWellFormed()) {
    throw new InvalidIdentityError("the name of a child job must be well-formed and not empty");
  }
  const tenant = encodeURIComponent(parent.tenantId);
  const text = `${parent.jobType}/${tenant}/${parent.jobId}/${encodeURIComponent(name)}`;
  if (Buffer.byteLength(text) <= MAX_ID_BYTES && !HASHED.test(text)) return parseJobId(text);
  const readable = firstBytes(text, MAX_ID_BYTES - HASH_MARK_CHARACTERS);
  return parseJobId(`${readable}~${sha256(text)}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** As many whole characters as fit. */
function firstBytes(text: string, maxBytes: number): string {
  const bytes = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text, bytes);
  return text.slice(0, read);
}
