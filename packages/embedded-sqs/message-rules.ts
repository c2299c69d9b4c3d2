/** What SQS accepts as a message: characters, sizes, attributes, ids. Pure. */

import { invalidParameter, missingParameter, SqsError } from "./errors.ts";
import type { StoredAttribute } from "./stored-message.ts";

/** The largest message, and the largest sum of a batch. @see SQS Developer Guide, "Message quotas" */
export const MAX_MESSAGE_BYTES = 1_048_576;

const MAX_ATTRIBUTES = 10;
const MAX_ATTRIBUTE_NAME_LENGTH = 256;
const ALLOWED = "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF";
const FORBIDDEN_CHARACTER = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const ATTRIBUTE_NAME = /^(?!(?:aws|amazon)\.)(?!\.)(?!.*\.\.)[\w.-]+(?<!\.)$/i;
const ATTRIBUTE_TYPE = /^(String|Number|Binary)(\.[\w.-]+)?$/;
/** A decimal number; SQS keeps 38 digits and exponents from -128 to 126. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;
/** Group ids, deduplication ids and attempt ids: letters, digits and punctuation of ASCII. */
const ID = /^[!-~]{1,128}$/;

/** @throws SqsError when the body is missing or has a character that SQS refuses */
export function checkBody(body: string | undefined): string {
  if (body === undefined || body === "") throw missingParameter("MessageBody");
  checkCharacters(body, "message body");
  return body;
}

/** @throws SqsError when an attribute breaks a rule of SQS */
export function checkAttributes(attributes: Readonly<Record<string, StoredAttribute>>): void {
  const entries = Object.entries(attributes);
  if (entries.length > MAX_ATTRIBUTES) {
    throw new SqsError(
      "InvalidParameterValue",
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`,
    );
  }
  for (const [name, attribute] of entries) {
    if (name.length > MAX_ATTRIBUTE_NAME_LENGTH || !ATTRIBUTE_NAME.test(name)) {
      throw new SqsError("InvalidParameterValue", `Message attribute name "${name}" is invalid.`);
    }
    checkAttribute(name, attribute);
  }
}

/** The bytes that count: body, and name, type and value of each attribute. */
export function messageBytes(
  body: string,
  attributes: Readonly<Record<string, StoredAttribute>>,
): number {
  let bytes = Buffer.byteLength(body);
  for (const [name, { dataType, text, base64 }] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(dataType) + Buffer.byteLength(text ?? "");
    if (base64 !== undefined) bytes += Buffer.byteLength(base64, "base64");
  }
  return bytes;
}

/** @throws SqsError when a message is larger than its queue takes */
export function checkSize(bytes: number, maximumBytes: number): void {
  if (bytes <= maximumBytes) return;
  const reason = `Message must be shorter than ${maximumBytes} bytes.`;
  throw new SqsError(
    "InvalidParameterValue",
    `One or more parameters are invalid. Reason: ${reason}`,
  );
}

/** @throws SqsError when a group, deduplication or attempt id has a length or character that SQS refuses */
export function checkId(parameter: string, id: string | undefined): void {
  if (id === undefined || ID.test(id)) return;
  throw invalidParameter(
    parameter,
    id,
    `${parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
}

/** @throws SqsError when it is not the one system attribute that may be sent */
export function checkSystemAttributes(attributes: Readonly<Record<string, StoredAttribute>>): void {
  for (const [name, { dataType, text }] of Object.entries(attributes)) {
    if (name !== "AWSTraceHeader") {
      throw new SqsError("InvalidParameterValue", `Message system attribute "${name}" is invalid.`);
    }
    if (dataType !== "String" || text === undefined || text === "") {
      throw new SqsError("InvalidParameterValue", `Message system attribute "${name}" is no text.`);
    }
    checkCharacters(text, `message system attribute "${name}"`);
  }
}

function checkAttribute(name: string, { dataType, text, base64 }: StoredAttribute): void {
  const kind = ATTRIBUTE_TYPE.exec(dataType)?.[1];
  const refuse = (reason: string) =>
    new SqsError("InvalidParameterValue", `The message attribute '${name}' ${reason}.`);
  if (kind === undefined || dataType.length > MAX_ATTRIBUTE_NAME_LENGTH) {
    throw refuse("has an invalid message attribute type");
  }
  const value = kind === "Binary" ? base64 : text;
  if (value === undefined || value === "") throw refuse("must contain a non-empty value");
  if ((kind === "Binary" ? text : base64) !== undefined) throw refuse("has two values");
  if (kind === "Number" && !NUMBER.test(value)) throw refuse("is no number");
  if (kind !== "Binary") checkCharacters(value, `message attribute '${name}'`);
}

function checkCharacters(text: string, where: string): void {
  const [character] = FORBIDDEN_CHARACTER.exec(text) ?? [];
  if (character === undefined) return;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  throw new SqsError(
    "InvalidMessageContents",
    `Invalid binary character '#x${code}' was found in the ${where}, the set of allowed characters is ${ALLOWED}`,
  );
}
