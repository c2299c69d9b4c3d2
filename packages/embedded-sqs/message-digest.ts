/** The MD5 sums that clients check. Pure. */

import { createHash } from "node:crypto";
import type { StoredAttribute } from "./stored-message.ts";

const TEXT_VALUE = 1;
const BINARY_VALUE = 2;

/** The sum of a body. */
export function md5OfBody(body: string): string {
  return createHash("md5").update(body).digest("hex");
}

/**
 * The sum of message attributes or message system attributes; `undefined` when there are none.
 * @see SQS Developer Guide, "Calculating the MD5 message digest for message attributes"
 */
export function md5OfAttributes(
  attributes: Readonly<Record<string, StoredAttribute>>,
): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  const add = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const attribute = attributes[name] as StoredAttribute;
    const isBinary = attribute.base64 !== undefined;
    add(Buffer.from(name));
    add(Buffer.from(attribute.dataType));
    hash.update(Buffer.from([isBinary ? BINARY_VALUE : TEXT_VALUE]));
    add(Buffer.from(attribute.base64 ?? attribute.text ?? "", isBinary ? "base64" : "utf8"));
  }
  return hash.digest("hex");
}
