/** SQS's JSON on the wire: request bodies checked and read, answers written. Pure. */

import { SqsError } from "./errors.ts";

type Shape = "text" | "integer" | "texts" | "textMap" | "attributes" | "entries";

/** Every parameter of every action has one shape, whatever the action. */
const SHAPES: Readonly<Record<string, Shape>> = {
  AttributeNames: "texts",
  Attributes: "textMap",
  DelaySeconds: "integer",
  DestinationArn: "text",
  Entries: "entries",
  Id: "text",
  MaxNumberOfMessages: "integer",
  MaxNumberOfMessagesPerSecond: "integer",
  MaxResults: "integer",
  MessageAttributeNames: "texts",
  MessageAttributes: "attributes",
  MessageBody: "text",
  MessageDeduplicationId: "text",
  MessageGroupId: "text",
  MessageSystemAttributeNames: "texts",
  MessageSystemAttributes: "attributes",
  NextToken: "text",
  QueueName: "text",
  QueueNamePrefix: "text",
  QueueUrl: "text",
  ReceiptHandle: "text",
  ReceiveRequestAttemptId: "text",
  SourceArn: "text",
  TagKeys: "texts",
  Tags: "textMap",
  TaskHandle: "text",
  VisibilityTimeout: "integer",
  WaitTimeSeconds: "integer",
  tags: "textMap",
};

const ATTRIBUTE_SHAPES: Readonly<Record<string, "text">> = {
  DataType: "text",
  StringValue: "text",
};

/**
 * The input of an action. Parameters that no action has are left out, as SQS does.
 * @throws SqsError SerializationException when the body is no JSON, or a parameter has a wrong type
 */
export function readRequest(body: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body) || "{}");
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw unreadable("body");
    throw error;
  }
  return readFields(value, SHAPES, "body");
}

/** An answer as JSON; binary values as base64. */
export function writeAnswer(answer: object): string {
  return JSON.stringify(answer, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}

function readFields(
  value: unknown,
  shapes: Readonly<Record<string, Shape>>,
  where: string,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(asObject(value, where))) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape !== undefined && field !== null) fields[name] = readField(name, shape, field);
  }
  return fields;
}

function readField(name: string, shape: Shape, value: unknown): unknown {
  switch (shape) {
    case "text":
      return asText(value, name);
    case "integer":
      if (typeof value !== "number" || !Number.isInteger(value)) throw unreadable(name);
      return value;
    case "texts":
      return asArray(value, name).map((each) => asText(each, name));
    case "textMap":
      return mapValues(value, name, (each) => asText(each, name));
    case "attributes":
      return mapValues(value, name, readAttribute);
    case "entries":
      return asArray(value, name).map((each) => readFields(each, SHAPES, name));
  }
}

function readAttribute(value: unknown): object {
  const { BinaryValue } = asObject(value, "MessageAttributes") as { BinaryValue?: unknown };
  const attribute = readFields(value, ATTRIBUTE_SHAPES, "MessageAttributes");
  if (BinaryValue === undefined || BinaryValue === null) return attribute;
  return { ...attribute, BinaryValue: Buffer.from(asText(BinaryValue, "BinaryValue"), "base64") };
}

function mapValues<T>(value: unknown, where: string, read: (value: unknown) => T): object {
  const entries = Object.entries(asObject(value, where));
  return Object.fromEntries(entries.map(([name, each]) => [name, read(each)]));
}

function asObject(value: unknown, where: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw unreadable(where);
}

function asArray(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw unreadable(where);
}

function asText(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw unreadable(where);
}

function unreadable(where: string): SqsError {
  return new SqsError("SerializationException", `${where} cannot be read as what it should be.`);
}
