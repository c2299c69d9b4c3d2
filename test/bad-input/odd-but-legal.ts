/** Messages that look wrong and are not: odd jobs, and jobs that another release knows. */

import { type BadMessage, legal, newer, unknown } from "./bad-message.ts";
import {
  bytes,
  duplicateTenant,
  envelope,
  foreignAttributes,
  MARKER,
  nested,
  rawField,
  text,
} from "./envelopes.ts";

/** Each must run once and be acked. */
export const oddButLegal: readonly BadMessage[] = [
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

/** Each must wait for a worker that knows it (a rolling deploy). */
export const fromAnotherRelease: readonly BadMessage[] = [
  unknown("a type that nobody knows yet", envelope({ type: "receipt.fax" })),
  unknown("a type that all objects have", envelope({ type: "constructor" })),
  unknown("an unknown type with any payload", envelope({ type: "receipt.fax", payload: null })),
  newer("version 2", envelope({ v: 2 })),
  newer("version 2 without a date and payload", `${envelope({ v: 2 }).split(',"created_at"')[0]}}`),
  newer("the newest version of all", rawField("v", "9007199254740991")),
  newer("version 2 of an unknown type", envelope({ v: 2, type: "receipt.fax" })),
];
