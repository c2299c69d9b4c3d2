/** The provider key and the input hash of an effect. Pure. */

import { hash } from "node:crypto";
import { type JobIdentity, PermanentJobError } from "@leasehold/job";

/**
 * The idempotency key for the provider: of environment, tenant, type, job and effect, and of nothing
 * that another attempt or delivery would change. 64 hexadecimal characters.
 */
export function providerKey(environment: string, job: JobIdentity, effect: string): string {
  const parts = [environment, job.tenantId, job.jobType, job.jobId, effect];
  // The length before each part keeps "ab" + "c" and "a" + "bc" apart.
  return sha256(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""));
}

/**
 * A hash that is the same for the same JSON, whatever the order of its keys.
 * @throws PermanentJobError when JSON cannot carry the value
 */
export function contentHash(what: string, value: unknown): string {
  return sha256(toJson(what, value, inOrder) ?? "null");
}

/**
 * The value as JSON; `undefined` stays what it is.
 * @throws PermanentJobError when JSON cannot carry it
 */
export function toJson(
  what: string,
  value: unknown,
  replace?: (key: string, value: unknown) => unknown,
): string | undefined {
  if (value === undefined) return undefined;
  try {
    const json: string | undefined = JSON.stringify(value, replace);
    if (json !== undefined) return json;
  } catch (cause) {
    throw new PermanentJobError(`${what} cannot be written as JSON`, { cause });
  }
  throw new PermanentJobError(`${what} cannot be written as JSON: it is a ${typeof value}`);
}

/** For `JSON.stringify`: the keys of each object in an order of their own. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((name) => [name, fields[name]]),
  );
}

/** SHA-256 in hexadecimal. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}
