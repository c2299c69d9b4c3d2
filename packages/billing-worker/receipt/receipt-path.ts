/** Where the receipt of an invoice lies within its folder, whatever its ids contain. Pure. */

import { createHash } from "node:crypto";
import type { InvoiceKey } from "../invoice/invoice-store.ts";

/** Most file systems end a name at 255 bytes; the rest is for the extension. */
const LONGEST_NAME = 200;
const KEPT_OF_A_LONG_NAME = 120;

/**
 * `<tenant>/<invoice>.pdf`, both as safe names: two invoices never share a path, and no id leads
 * out of the folder.
 */
export function receiptPath({ tenantId, invoiceId }: InvoiceKey): readonly [string, string] {
  return [safeName(tenantId), `${safeName(invoiceId)}.pdf`];
}

/**
 * The text as a file name. Letters, digits, `-`, `_` and inner points stay; every other byte is
 * `%XX`, so that different texts have different names. A long name is cut and ends in `~` (which
 * occurs nowhere else) and the hash of the whole.
 */
export function safeName(text: string): string {
  const escaped = [...Buffer.from(text)].map(escapeByte).join("");
  const name = escaped.replace(/^\.+|\.+$/g, (points) => "%2E".repeat(points.length));
  if (name.length <= LONGEST_NAME) return name;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${name.slice(0, KEPT_OF_A_LONG_NAME)}~${hash}`;
}

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9._-]/.test(character)) return character;
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
