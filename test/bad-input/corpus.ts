/** The bad-input corpus: what may lie in a queue, and where a worker must leave it. */

import {
  bytes,
  envelope,
  filledUp,
  foreignAttributes,
  MARKER,
  MEBIBYTE,
  nested,
  rawField,
  type SqsAttributes,
  text,
  without,
} from "./envelopes.ts";

/** Where a message is ten seconds after it was sent. */
export type Expected =
  /** Odd, but a job: its handler ran once and the worker deleted the message. */
  | { readonly end: "acked" }
  /** A copy with its reason lies in the dead-letter queue; no handler ran. */
  | {
      readonly end: "dead-lettered";
      /** The word that the detail begins with. */
      readonly word: string;
      /** What the copy says besides what the message had. @defaultValue all but the history */
      readonly marks?: readonly Mark[];
    }
  /** Still in its queue, hidden longer each time, for another release of the worker. */
  | { readonly end: "waiting"; readonly reason: "unknown-type" | "newer-version" };

/** An attribute that a dead letter may have beyond those of its message. */
export type Mark = "reason" | "detail" | "source" | "history";

/** One message, raw, as its producer sent it. */
export interface BadMessage {
  readonly name: string;
  readonly body: string;
  readonly attributes?: SqsAttributes;
  readonly groupId?: string;
  readonly expected: Expected;
}

type Extras = Omit<Partial<BadMessage>, "name" | "body" | "expected"> & {
  readonly marks?: readonly Mark[];
};

const malformed =
  (word: string) =>
  (name: string, body: string, { marks, ...extras }: Extras = {}): BadMessage => ({
    name,
    body,
    ...extras,
    expected: { end: "dead-lettered", word, ...(marks === undefined ? {} : { marks }) },
  });
const notJson = malformed("not-json");
const notAnObject = malformed("not-an-object");
const missing = malformed("missing-field");
const invalid = malformed("invalid-field");
const mismatch = malformed("attribute-mismatch");
const tooDeep = malformed("too-deep");
const payload = malformed("invalid-payload");

const legal = (name: string, body: string, extras: Omit<Extras, "marks"> = {}): BadMessage => ({
  ...{ name, body, ...extras },
  expected: { end: "acked" },
});
const waits =
  (reason: "unknown-type" | "newer-version") =>
  (name: string, body: string, extras: Omit<Extras, "marks"> = {}): BadMessage => ({
    ...{ name, body, ...extras },
    expected: { end: "waiting", reason },
  });
const unknown = waits("unknown-type");
const newer = waits("newer-version");

const bodiesThatAreNoJson: readonly BadMessage[] = [
  notJson("an opening brace", "{"),
  notJson("a blank", " "),
  notJson("white space only", "\t\r\n  \n"),
  notJson("the text undefined", "undefined"),
  notJson("the text [object Object]", "[object Object]"),
  notJson("NaN", "NaN"),
  notJson("single quotes", envelope().replaceAll('"', "'")),
  notJson("a comma too many", envelope().replace(/\}$/, ",}")),
  notJson("a comment", `// ${MARKER}\n${envelope()}`),
  notJson("a body cut off in the middle", envelope().slice(0, -20)),
  notJson("two jobs, one on each line", `${envelope()}\n${envelope()}`),
  notJson("a byte order mark", `\ufeff${envelope()}`),
  notJson("a no-break space before the brace", `\u00a0${envelope()}`),
  notJson("a raw line break within a text", envelope().replace("inv-7", "inv\n7")),
  notJson("XML", `<?xml version="1.0"?><job tenant="acme">${MARKER}</job>`),
  notJson("a form", `tenant_id=acme&job_id=7&payload=${MARKER}`),
  notJson("base64 (a Celery body)", Buffer.from(envelope()).toString("base64")),
  notJson("a number with a leading zero", rawField("v", "01")),
  notJson("an unpaired bracket at the end", `${envelope()}]`),
];

const jsonThatIsNoObject: readonly BadMessage[] = [
  notAnObject("null", "null"),
  notAnObject("true", "true"),
  notAnObject("a number", "7"),
  notAnObject("a number beyond all doubles", `1${"0".repeat(400)}`),
  notAnObject("an empty list", "[]"),
  notAnObject("a list of one job", `[${envelope()}]`),
  notAnObject("a job as a text: encoded twice", JSON.stringify(envelope())),
];

const foreignProducers: readonly BadMessage[] = [
  missing("an empty object", "{}"),
  missing(
    "a notification of SNS, the job within",
    JSON.stringify({ Type: "Notification", MessageId: "1", Message: envelope() }),
    { attributes: { "x-topic": text("jobs"), size: text("42", "Number") } },
  ),
  missing("an S3 event", JSON.stringify({ Records: [{ s3: { object: { key: MARKER } } }] })),
  missing("an S3 test event", JSON.stringify({ Service: "Amazon S3", Event: "s3:TestEvent" })),
  missing(
    "an EventBridge event",
    JSON.stringify({ version: "0", id: "7", "detail-type": "x", detail: { note: MARKER } }),
  ),
  missing(
    "a CloudEvent",
    JSON.stringify({ specversion: "1.0", type: "receipt.render", id: "7", data: MARKER }),
  ),
  missing("our fields in camel case", JSON.stringify({ v: 1, tenantId: "acme", jobId: "7" })),
  missing("the whole job under __proto__", `{"__proto__":${envelope()}}`),
  missing("the whole job under constructor", `{"constructor":{"prototype":${envelope()}}}`),
];

const fieldsThatAreMissing: readonly BadMessage[] = (
  ["v", "type", "job_id", "tenant_id", "created_at", "payload"] as const
).map((field) => missing(`no ${field}`, without(field)));

const OTHER_THAN_TEXT: readonly (readonly [what: string, value: unknown])[] = [
  ["null", null],
  ["a number", 7],
  ["true", true],
  ["a list", [MARKER]],
  ["an object", { note: MARKER }],
  ["an empty text", ""],
];

const fieldsOfAnotherType: readonly BadMessage[] = (
  ["type", "job_id", "tenant_id", "created_at"] as const
).flatMap((field) =>
  OTHER_THAN_TEXT.map(([what, value]) =>
    invalid(`${field} is ${what}`, envelope({ [field]: value })),
  ),
);

const wrongVersions: readonly BadMessage[] = [
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

const wrongIdentities: readonly BadMessage[] = [
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

const wrongTimes: readonly BadMessage[] = [
  invalid("created_at is a word", envelope({ created_at: MARKER })),
  invalid("created_at without a zone", envelope({ created_at: "2026-01-01T00:00:00" })),
  invalid("created_at in another zone", envelope({ created_at: "2026-01-01T00:00:00+02:00" })),
  invalid("created_at on 30 February", envelope({ created_at: "2026-02-30T00:00:00Z" })),
  invalid("created_at at hour 24", envelope({ created_at: "2026-01-01T24:00:00Z" })),
  invalid("created_at of many digits", envelope({ created_at: "9".repeat(100_000) })),
];

const attributesAgainstTheBody: readonly BadMessage[] = [
  mismatch("another tenant", envelope(), { attributes: { tenant_id: text("evil") } }),
  mismatch("another job id", envelope(), { attributes: { job_id: text("inv-8") } }),
  mismatch("another type", envelope(), { attributes: { job_type: text("invoice.issue") } }),
  mismatch("the tenant in capitals", envelope(), { attributes: { tenant_id: text("ACME") } }),
  mismatch("the tenant and a blank", envelope(), { attributes: { tenant_id: text("acme ") } }),
  mismatch("a number for a tenant", envelope(), { attributes: { tenant_id: text("7", "Number") } }),
  mismatch("another tenant in bytes", envelope(), { attributes: { tenant_id: bytes("evil") } }),
  mismatch("bytes that are no text", envelope(), {
    attributes: { tenant_id: bytes(Uint8Array.of(0xff, 0xfe, 0x00)) },
  }),
  mismatch("the same letters composed otherwise", envelope({ tenant_id: "caf\u00e9" }), {
    attributes: { tenant_id: text("cafe\u0301") },
  }),
  mismatch("the tenant that a duplicate key named first", duplicateTenant("evil", "acme"), {
    attributes: { tenant_id: text("evil") },
  }),
  mismatch("another tenant in a newer version", envelope({ v: 2 }), {
    attributes: { tenant_id: text("evil") },
  }),
  mismatch("another tenant of an unknown type", envelope({ type: "receipt.fax" }), {
    attributes: { tenant_id: text("evil") },
  }),
];

const payloadsThatDoNotFit: readonly BadMessage[] = [
  payload("null", envelope({ payload: null })),
  payload("a text", envelope({ payload: MARKER })),
  payload("a list", envelope({ payload: [MARKER] })),
  payload("an empty object", envelope({ payload: {} })),
  payload("a number for a text", envelope({ payload: { invoiceId: 7, note: MARKER } })),
  payload("a text that is too long", envelope({ payload: { invoiceId: MARKER.repeat(9) } })),
  payload("a note that is an object", envelope({ payload: { note: { card: MARKER } } })),
  payload(
    "an infinite number",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"amount":1e999}]}'),
  ),
  payload(
    "a number beyond exact integers",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"amount":9007199254740993}]}'),
  ),
  payload(
    "five thousand faults",
    envelope({ payload: { invoiceId: "inv-7", lines: Array(5_000).fill({ amount: MARKER }) } }),
  ),
  payload("the fields under __proto__", rawField("payload", '{"__proto__":{"invoiceId":"inv-7"}}')),
  payload(
    "the prototype within a list that does not fit",
    rawField("payload", '{"invoiceId":"inv-7","lines":[{"__proto__":{"amount":1}}]}'),
  ),
];

const depthBombs: readonly BadMessage[] = [
  tooDeep("a bomb of lists", nested(500_000)),
  tooDeep("a bomb that never closes", "[".repeat(MEBIBYTE), { marks: [] }),
  tooDeep("a bomb of objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  tooDeep("a bomb in the payload", rawField("payload", nested(100_000))),
  tooDeep("a bomb in the tenant", rawField("tenant_id", nested(100_000))),
  tooDeep("one level too many", rawField("payload", `{"invoiceId":"inv-7","x":${nested(127)}}`)),
  payload("as deep as allowed, where a list is wanted", rawField("payload", nested(127))),
];

const HALF_KIBIBYTE_LEFT = MEBIBYTE - 512;
const full = envelope({ payload: { invoiceId: 7, note: MARKER } });

const edgesOfSize: readonly BadMessage[] = [
  legal("a job of exactly 1 MiB", filledUp(envelope(), MEBIBYTE)),
  legal(
    "a job of exactly 1 MiB with its attributes",
    filledUp(envelope(), MEBIBYTE, foreignAttributes(10)),
    { attributes: foreignAttributes(10) },
  ),
  payload("of exactly 1 MiB: no byte left for a reason", filledUp(full, MEBIBYTE), { marks: [] }),
  payload("with room for the reason only", filledUp(full, MEBIBYTE - 40), { marks: ["reason"] }),
  payload("with room for all marks", filledUp(full, HALF_KIBIBYTE_LEFT)),
  payload(
    "whose long detail does not fit",
    filledUp(
      envelope({ payload: { lines: Array(20).fill({ amount: MARKER }) } }),
      HALF_KIBIBYTE_LEFT,
    ),
    { marks: ["reason", "source"] },
  ),
  notJson("with seven attributes: all marks fit", "{", { attributes: foreignAttributes(7) }),
  notJson("with eight attributes", "{", {
    attributes: foreignAttributes(8),
    marks: ["reason", "source"],
  }),
  notJson("with nine attributes", "{", { attributes: foreignAttributes(9), marks: ["reason"] }),
  notJson("with ten attributes: none left for a reason", "{", {
    attributes: foreignAttributes(10),
    marks: [],
  }),
];

const formerDeadLetters: readonly BadMessage[] = [
  legal("a redriven job", envelope(), {
    attributes: { dead_letter_reason: text("permanent"), dead_letter_detail: text("too early") },
  }),
  notJson("that says so of itself", "{", {
    attributes: { dead_letter_reason: text("permanent") },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a depth bomb for a history", "{", {
    attributes: { dead_letter_history: text(nested(200_000)) },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a depth bomb for a source", "{", {
    attributes: {
      dead_letter_reason: text("permanent"),
      dead_letter_source: text(nested(200_000)),
    },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history of fifty thousand", "{", {
    attributes: { dead_letter_history: text(JSON.stringify(Array(50_000).fill({ reason: "x" }))) },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history that is no JSON", "{", {
    attributes: { dead_letter_history: text("[") },
    marks: ["reason", "detail", "source", "history"],
  }),
  notJson("with a history in bytes", "{", {
    attributes: { dead_letter_history: bytes("[1]") },
    marks: ["reason", "detail", "source", "history"],
  }),
];

const oddButLegal: readonly BadMessage[] = [
  legal("no attributes at all", envelope()),
  legal("ids outside SQS's characters", envelope({ tenant_id: "Ärzte & Söhne", job_id: "№ 7 ✓" }), {
    attributes: { tenant_id: text("Ärzte & Söhne"), job_id: text("№ 7 ✓") },
  }),
  legal("ids of 256 bytes of emoji", envelope({ tenant_id: "😀".repeat(64) }), {
    attributes: { tenant_id: text("😀".repeat(64)) },
  }),
  legal("a job id of 256 bytes", envelope({ job_id: "x".repeat(256) })),
  legal("a tenant called __proto__", envelope({ tenant_id: "__proto__" })),
  legal("a key that stands twice: the last one counts", duplicateTenant("evil", "acme"), {
    attributes: { tenant_id: text("acme") },
  }),
  legal("white space around the body", `\r\n\t ${envelope()} \n`),
  legal("a version with a fraction of zero", rawField("v", "1.0")),
  legal("escapes instead of characters", rawField("tenant_id", '"\\u0061cme"'), {
    attributes: { tenant_id: text("acme") },
  }),
  legal("the tenant in bytes", envelope(), { attributes: { tenant_id: bytes("acme") } }),
  legal("the tenant with a labelled type", envelope(), {
    attributes: { tenant_id: text("acme", "String.tenant") },
  }),
  legal("a tenant in digits, as a number", envelope({ tenant_id: "007" }), {
    attributes: { tenant_id: text("007", "Number") },
  }),
  legal("ten foreign attributes", envelope(), { attributes: foreignAttributes(10) }),
  legal("attributes with the names of an object's own", envelope(), {
    attributes: Object.fromEntries([
      ["__proto__", text("x")],
      ["constructor", text("x")],
      ["toString", text("x")],
    ]),
  }),
  legal("a trace that is none", envelope(), { attributes: { traceparent: text("not-a-trace") } }),
  legal("a group for fair queues", envelope(), { groupId: "another-than-the-tenant" }),
  legal("fields that nobody knows", envelope({ priority: MARKER, "": 1, constructor: 1 })),
  legal("created in the year 1", envelope({ created_at: "0001-01-01T00:00:00Z" })),
  legal("created in the far future", envelope({ created_at: "9999-12-31T23:59:59Z" })),
  legal(
    "a payload with __proto__ and constructor",
    rawField(
      "payload",
      '{"invoiceId":"inv-7","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ),
  ),
  legal(
    "__proto__ in a dictionary and in an open object",
    rawField(
      "payload",
      '{"invoiceId":"inv-7","labels":{"__proto__":"polluted"},"open":{"__proto__":{"polluted":1}}}',
    ),
  ),
  legal("half a surrogate pair in a payload", rawField("payload", '{"invoiceId":"\\ud800"}')),
  legal("as deep as allowed", rawField("payload", `{"invoiceId":"inv-7","x":${nested(126)}}`)),
  legal("brackets within a text", envelope({ payload: { invoiceId: "x", note: nested(5_000) } })),
];

const fromAnotherRelease: readonly BadMessage[] = [
  unknown("a type that nobody knows yet", envelope({ type: "receipt.fax" })),
  unknown("a type that all objects have", envelope({ type: "constructor" })),
  unknown("an unknown type with any payload", envelope({ type: "receipt.fax", payload: null })),
  newer("version 2", envelope({ v: 2 })),
  newer("version 2 without a date and payload", `${envelope({ v: 2 }).split(',"created_at"')[0]}}`),
  newer("the newest version of all", rawField("v", "9007199254740991")),
  newer("version 2 of an unknown type", envelope({ v: 2, type: "receipt.fax" })),
];

/** Every message, by class. */
export const corpus: Readonly<Record<string, readonly BadMessage[]>> = {
  "a body that is no JSON": bodiesThatAreNoJson,
  "JSON that is no object": jsonThatIsNoObject,
  "a message of another producer": foreignProducers,
  "a field that is missing": fieldsThatAreMissing,
  "a field of another type": fieldsOfAnotherType,
  "a wrong version": wrongVersions,
  "a wrong identity": wrongIdentities,
  "a wrong time": wrongTimes,
  "an attribute against the body": attributesAgainstTheBody,
  "a payload that does not fit": payloadsThatDoNotFit,
  "a depth bomb": depthBombs,
  "a message at the edge of SQS's sizes": edgesOfSize,
  "a former dead letter": formerDeadLetters,
  "a message that is odd but legal": oddButLegal,
  "a job of another release": fromAnotherRelease,
};

/** The first value wins in some parsers, the last in `JSON.parse`. */
function duplicateTenant(first: string, last: string): string {
  return envelope({ tenant_id: last }).replace("{", () => `{"tenant_id":"${first}",`);
}
