/** Message bodies as a foreign or hostile producer writes them, byte by byte. */

import type { ActionInput } from "@leasehold/embedded-sqs";

/** Attributes in SQS's own words. */
export type SqsAttributes = NonNullable<ActionInput<"SendMessage">["MessageAttributes"]>;

/** Stands in every payload of the corpus; nothing that a worker says may contain it. */
export const MARKER = "SECRET-4111111111111111";

/** @see SQS Developer Guide, "Amazon SQS message quotas" */
export const MEBIBYTE = 1_048_576;

const GOOD = {
  v: 1,
  type: "receipt.render",
  job_id: "inv-7/v2",
  tenant_id: "acme",
  created_at: "2026-01-01T00:00:00.000Z",
  payload: { invoiceId: "inv-7", note: MARKER },
};

/** The body of a job that is all right, with some fields changed. */
export function envelope(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ ...GOOD, ...changes });
}

/** The body without one of its fields. */
export function without(field: keyof typeof GOOD): string {
  const { [field]: _, ...rest } = GOOD;
  return JSON.stringify(rest);
}

/** The body with one field as raw JSON text, for what `JSON.stringify` does not write. */
export function rawField(field: keyof typeof GOOD, json: string): string {
  return envelope({ [field]: "@" }).replace('"@"', () => json);
}

/** The first value wins in some parsers, the last in `JSON.parse`. */
export function duplicateTenant(first: string, last: string): string {
  return envelope({ tenant_id: last }).replace("{", () => `{"tenant_id":"${first}",`);
}

/** Brackets within brackets: `depth` levels. */
export function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

/** A text attribute, or one of another type. */
export function text(value: string, DataType: string = "String") {
  return { DataType, StringValue: value };
}

/** A binary attribute. */
export function bytes(value: string | Uint8Array) {
  return { DataType: "Binary", BinaryValue: Buffer.from(value as string) };
}

/** As many attributes of somebody else's. */
export function foreignAttributes(count: number): SqsAttributes {
  const names = Array.from({ length: count }, (_, index) => `x-foreign-${index}`);
  return Object.fromEntries(names.map((name) => [name, text("theirs")]));
}

/** Body and attributes of exactly this size: blanks, which JSON ignores, fill the body up. */
export function filledUp(body: string, sizeBytes: number, attributes: SqsAttributes = {}): string {
  const taken = Object.entries(attributes).reduce(
    (sum, [name, { DataType = "", StringValue = "" }]) =>
      sum + Buffer.byteLength(name + DataType + StringValue),
    Buffer.byteLength(body),
  );
  return body + " ".repeat(sizeBytes - taken);
}
