/** Envelopes with a field that is missing, of another type, out of range or too long. */

import { type BadMessage, invalid, misfit, missing } from "./bad-message.ts";
import { envelope, MARKER, MEBIBYTE, rawField, without } from "./envelopes.ts";

const OTHER_THAN_TEXT: readonly (readonly [what: string, value: unknown])[] = [
  ["null", null],
  ["a number", 7],
  ["true", true],
  ["a list", [MARKER]],
  ["an object", { note: MARKER }],
  ["an empty text", ""],
];

/** Each field of the envelope left out once. */
export const fieldsThatAreMissing: readonly BadMessage[] = (
  ["v", "type", "job_id", "tenant_id", "created_at", "payload"] as const
).map((field) => missing(`no ${field}`, without(field)));

/** Each text of the envelope as something else. */
export const fieldsOfAnotherType: readonly BadMessage[] = (
  ["type", "job_id", "tenant_id", "created_at"] as const
).flatMap((field) =>
  OTHER_THAN_TEXT.map(([what, value]) =>
    invalid(`${field} is ${what}`, envelope({ [field]: value })),
  ),
);

/** Versions that are no whole number from 1. */
export const wrongVersions: readonly BadMessage[] = [
  invalid("v is a text", envelope({ v: "1" })),
  invalid("v is a text that is none of anybody's business", envelope({ v: MARKER })),
  invalid("v is null", envelope({ v: null })),
  invalid("v is true", envelope({ v: true })),
  invalid("v is a list", envelope({ v: [1] })),
  invalid("v is 0", envelope({ v: 0 })),
  invalid("v is negative", envelope({ v: -1 })),
  invalid("v is a fraction", envelope({ v: 1.5 })),
  invalid("v is infinite", rawField("v", "1e999")),
  invalid("v is beyond exact integers", rawField("v", "9007199254740993")),
];

/** Types, tenants and job ids that cannot be one. */
export const wrongIdentities: readonly BadMessage[] = [
  invalid("type in capitals", envelope({ type: "Receipt.Render" })),
  invalid("type with a blank", envelope({ type: "receipt render" })),
  invalid("type with two dots in a row", envelope({ type: "receipt..render" })),
  invalid("type is __proto__", envelope({ type: "__proto__" })),
  invalid("type in Cyrillic letters that look like ours", envelope({ type: "reсeipt.render" })),
  invalid("type of 101 characters", envelope({ type: "x".repeat(101) })),
  invalid("type of a hundred thousand characters", envelope({ type: "x".repeat(100_000) })),
  invalid("tenant of 257 bytes", envelope({ tenant_id: "x".repeat(257) })),
  invalid("tenant of 129 characters, 258 bytes", envelope({ tenant_id: "é".repeat(129) })),
  invalid("tenant with a blank before it", envelope({ tenant_id: " acme" })),
  invalid("tenant with a line break after it", envelope({ tenant_id: "acme\n" })),
  invalid("tenant of blanks", envelope({ tenant_id: "   " })),
  invalid("job id of 257 bytes", envelope({ job_id: "x".repeat(257) })),
  invalid("job id of half a mebibyte", envelope({ job_id: "x".repeat(MEBIBYTE / 2) })),
  invalid("job id with NUL", envelope({ job_id: "a\u0000b" })),
  invalid("job id with an escape that colours terminals", envelope({ job_id: "a\u001b[31mb" })),
  invalid("job id with DEL", envelope({ job_id: "a\u007f" })),
  invalid("job id with half a surrogate pair", rawField("job_id", '"a\\ud800"')),
  invalid("job id with the halves the wrong way round", rawField("job_id", '"\\udc00\\ud800"')),
  invalid("job id with U+FFFE", rawField("job_id", '"a\\ufffe"')),
];

/** Points in time that do not exist, or do not say where they count from. */
export const wrongTimes: readonly BadMessage[] = [
  invalid("created_at is a word", envelope({ created_at: MARKER })),
  invalid("created_at without a zone", envelope({ created_at: "2026-01-01T00:00:00" })),
  invalid("created_at in another zone", envelope({ created_at: "2026-01-01T00:00:00+02:00" })),
  invalid("created_at on 30 February", envelope({ created_at: "2026-02-30T00:00:00Z" })),
  invalid("created_at at hour 24", envelope({ created_at: "2026-01-01T24:00:00Z" })),
  invalid("created_at of many digits", envelope({ created_at: "9".repeat(100_000) })),
];

/** Envelopes that are all right, with a payload that its schema refuses. */
export const payloadsThatDoNotFit: readonly BadMessage[] = [
  misfit("null", envelope({ payload: null })),
  misfit("a text", envelope({ payload: MARKER })),
  misfit("a list", envelope({ payload: [MARKER] })),
  misfit("an empty object", envelope({ payload: {} })),
  misfit("a number for a text", envelope({ payload: { invoiceId: 7, note: MARKER } })),
  misfit("a text that is too long", envelope({ payload: { invoiceId: MARKER.repeat(9) } })),
  misfit("a note that is an object", envelope({ payload: { note: { card: MARKER } } })),
  misfit(
    "an infinite number",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"amount":1e999}]}'),
  ),
  misfit(
    "a number beyond exact integers",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"amount":9007199254740993}]}'),
  ),
  misfit(
    "five thousand faults",
    envelope({ payload: { invoiceId: "inv-7", lines: Array(5_000).fill({ amount: MARKER }) } }),
  ),
  misfit("the fields under __proto__", rawField("payload", '{"__proto__":{"invoiceId":"inv-7"}}')),
  misfit(
    "the prototype within a list that does not fit",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"__proto__":{"amount":1}}]}'),
  ),
];
