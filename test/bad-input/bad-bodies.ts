/** Bodies that are no job at all: no JSON, no object, other producers' events, depth bombs. */

import { type BadMessage, misfit, missing, notAnObject, notJson, tooDeep } from "./bad-message.ts";
import { envelope, MARKER, MEBIBYTE, nested, rawField, text } from "./envelopes.ts";

/** No JSON parser takes them. */
export const bodiesThatAreNoJson: readonly BadMessage[] = [
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

/** JSON, but of a kind that no envelope is. */
export const jsonThatIsNoObject: readonly BadMessage[] = [
  notAnObject("null", "null"),
  notAnObject("true", "true"),
  notAnObject("a number", "7"),
  notAnObject("a number beyond all doubles", `1${"0".repeat(400)}`),
  notAnObject("an empty list", "[]"),
  notAnObject("a list of one job", `[${envelope()}]`),
  notAnObject("a job as a text: encoded twice", JSON.stringify(envelope())),
];

/** Objects of producers that do not know our envelope, or want it to be found where it is not. */
export const foreignProducers: readonly BadMessage[] = [
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

/** Bodies that would overflow the stack of whatever walks through them. */
export const depthBombs: readonly BadMessage[] = [
  tooDeep("a bomb of lists", nested(500_000)),
  tooDeep("a bomb that never closes", "[".repeat(MEBIBYTE), { marks: [] }),
  tooDeep("a bomb of objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`),
  tooDeep("a bomb in the payload", rawField("payload", nested(100_000))),
  tooDeep("a bomb in the tenant", rawField("tenant_id", nested(100_000))),
  tooDeep("one level too many", rawField("payload", `{"invoiceId":"inv-7","x":${nested(127)}}`)),
  misfit("as deep as allowed, where a list is wanted", rawField("payload", nested(127))),
];
