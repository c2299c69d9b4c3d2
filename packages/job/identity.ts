/** Tenant, job id and job type as types of their own, parsed once. */

import { InvalidIdentityError } from "./errors.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Whose job it is: 1 to 256 bytes of UTF-8 without control characters. */
export type TenantId = Branded<"TenantId">;
/** Which job it is, within tenant and type; a business identity made by the producer. */
export type JobId = Branded<"JobId">;
/** What kind of job it is: lower-case words joined by dots, dashes or underscores, at most 100. */
export type JobType = Branded<"JobType">;

/** Which job: the same in every delivery, retry and redrive. */
export interface JobIdentity {
  readonly tenantId: TenantId;
  readonly jobId: JobId;
  readonly jobType: JobType;
}

/** The longest tenant or job id, in bytes of UTF-8. */
export const MAX_ID_BYTES = 256;
const MAX_TYPE_CHARACTERS = 100;
const TYPE_PATTERN = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;
/** SQS takes no U+FFFE and U+FFFF in an attribute, so they count as control characters here. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/;

/** @throws InvalidIdentityError */
export function parseTenantId(value: unknown): TenantId {
  return parseId("tenant_id", value) as TenantId;
}

/** @throws InvalidIdentityError */
export function parseJobId(value: unknown): JobId {
  return parseId("job_id", value) as JobId;
}

/** @throws InvalidIdentityError */
export function parseJobType(value: unknown): JobType {
  if (typeof value !== "string") {
    throw new InvalidIdentityError(`job type must be a text, got ${describe(value)}`);
  }
  if (value.length > MAX_TYPE_CHARACTERS || !TYPE_PATTERN.test(value)) {
    throw new InvalidIdentityError(
      `job type must be lower-case words joined by dots, dashes or underscores, ` +
        `at most ${MAX_TYPE_CHARACTERS} characters, got ${describe(value)}`,
    );
  }
  return value as JobType;
}

function parseId(field: "tenant_id" | "job_id", value: unknown): string {
  const refuse = (problem: string) =>
    new InvalidIdentityError(`${field} must ${problem}, got ${describe(value)}`);
  if (typeof value !== "string") throw refuse("be a text");
  if (value === "" || value.trim() !== value) {
    throw refuse("not be empty or start or end with white space");
  }
  if (Buffer.byteLength(value) > MAX_ID_BYTES) throw refuse(`have at most ${MAX_ID_BYTES} bytes`);
  if (CONTROL_CHARACTER.test(value)) throw refuse("be free of control characters");
  if (!value.isWellFormed()) throw refuse("be well-formed Unicode");
  return value;
}

const SHOWN_CHARACTERS = 60;

function describe(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `a ${typeof value}`;
  const shown = value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}...` : value;
  return `${JSON.stringify(shown)} (${value.length} characters)`;
}
