/** A raw message as text and back, its bytes included. Pure. */

import type { MessageCopy } from "@leasehold/job";

interface TextAttribute {
  readonly dataType: string;
  readonly value?: string;
  /** Instead of `value`: JSON knows no bytes. */
  readonly base64?: string;
}

/** The message as JSON. */
export function messageText(message: MessageCopy): string {
  const attributes = Object.entries(message.attributes).map(([name, { dataType, value }]) => [
    name,
    typeof value === "string"
      ? { dataType, value }
      : { dataType, base64: Buffer.from(value).toString("base64") },
  ]);
  return JSON.stringify({ ...message, attributes: Object.fromEntries(attributes) });
}

/** The message that `messageText` wrote. */
export function readMessageText(text: string): MessageCopy {
  const message = JSON.parse(text);
  const texts = Object.entries(message.attributes) as [string, TextAttribute][];
  const attributes = texts.map(([name, { dataType, value, base64 }]) => [
    name,
    { dataType, value: value ?? new Uint8Array(Buffer.from(base64 ?? "", "base64")) },
  ]);
  return { ...message, attributes: Object.fromEntries(attributes) };
}
