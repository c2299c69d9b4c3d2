/** The attributes of a queue: defaults, ranges, refusals. Pure. */

import { SqsError } from "./errors.ts";
import type { QueueAttributes } from "./queue-change.ts";

/** Whole seconds or bytes: default and range. @see SQS API reference, SetQueueAttributes */
const NUMBERS: Readonly<Record<string, readonly [number, number, number]>> = {
  DelaySeconds: [0, 0, 900],
  MaximumMessageSize: [1_048_576, 1_024, 1_048_576],
  MessageRetentionPeriod: [345_600, 60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 0, 20],
  VisibilityTimeout: [30, 0, 43_200],
};

const OPTIONAL_NUMBERS: Readonly<Record<string, readonly [number, number]>> = {
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
};

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  SqsManagedSseEnabled: ["true", "false"],
};

const FIFO_CHOICES: Readonly<Record<string, readonly string[]>> = {
  FifoQueue: ["true"],
  ContentBasedDeduplication: ["true", "false"],
  DeduplicationScope: ["queue", "messageGroup"],
  FifoThroughputLimit: ["perQueue", "perMessageGroupId"],
};

/** Free text; an empty one takes the attribute away. */
const TEXTS: ReadonlySet<string> = new Set(["Policy", "KmsMasterKeyId"]);

/** JSON documents; an empty one takes the attribute away. */
const DOCUMENTS: ReadonlySet<string> = new Set(["RedrivePolicy", "RedriveAllowPolicy"]);

/** What `QueueAttributes` say, in the units of this house. */
export interface QueueSettings {
  readonly delayMs: number;
  readonly maximumMessageBytes: number;
  readonly retentionMs: number;
  readonly receiveWaitMs: number;
  readonly visibilityTimeoutMs: number;
  readonly hasContentBasedDeduplication: boolean;
  readonly isDeduplicatedByGroup: boolean;
}

/**
 * The attributes of a queue after `given` was set over `current`.
 * @throws SqsError InvalidAttributeName or InvalidAttributeValue
 */
export function mergeAttributes(
  current: QueueAttributes,
  given: QueueAttributes,
  isFifo: boolean,
): QueueAttributes {
  const merged: Record<string, string> = { ...current };
  for (const [name, value] of Object.entries(given)) {
    if (isTextual(name) && value === "") delete merged[name];
    else merged[name] = checked(name, value, isFifo);
  }
  return merged;
}

/** The attributes of a new queue that was given nothing. */
export function defaultAttributes(isFifo: boolean): QueueAttributes {
  const numbers = Object.entries(NUMBERS).map(([name, [value]]) => [name, String(value)]);
  const fifo = {
    FifoQueue: "true",
    ContentBasedDeduplication: "false",
    DeduplicationScope: "queue",
    FifoThroughputLimit: "perQueue",
  };
  return {
    ...Object.fromEntries(numbers),
    SqsManagedSseEnabled: "true",
    ...(isFifo ? fifo : {}),
  };
}

/** Reads the attributes once, so that nobody else parses them. */
export function readSettings(attributes: QueueAttributes): QueueSettings {
  const seconds = (name: string) => Number(attributes[name] ?? NUMBERS[name]?.[0]) * 1000;
  return {
    delayMs: seconds("DelaySeconds"),
    maximumMessageBytes: Number(attributes["MaximumMessageSize"]),
    retentionMs: seconds("MessageRetentionPeriod"),
    receiveWaitMs: seconds("ReceiveMessageWaitTimeSeconds"),
    visibilityTimeoutMs: seconds("VisibilityTimeout"),
    hasContentBasedDeduplication: attributes["ContentBasedDeduplication"] === "true",
    isDeduplicatedByGroup: attributes["DeduplicationScope"] === "messageGroup",
  };
}

/** Whether two values of an attribute mean the same: JSON documents may be written in two ways. */
export function meansTheSame(name: string, a: string | undefined, b: string): boolean {
  if (a === undefined || !DOCUMENTS.has(name) || b === "") return (a ?? "") === b;
  return canonical(a) === canonical(b);
}

function canonical(json: string): string {
  const entries = Object.entries(JSON.parse(json) as Record<string, unknown>);
  return JSON.stringify(
    entries
      .map(([key, value]) => [key, key === "maxReceiveCount" ? Number(value) : value])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}

function isTextual(name: string): boolean {
  return TEXTS.has(name) || DOCUMENTS.has(name);
}

function checked(name: string, value: string, isFifo: boolean): string {
  const range = NUMBERS[name]?.slice(1) ?? OPTIONAL_NUMBERS[name];
  const choices = CHOICES[name] ?? (isFifo ? FIFO_CHOICES[name] : undefined);
  if (range !== undefined) {
    const [min = 0, max = 0] = range;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) throw invalidValue(name);
    return String(number);
  }
  if (choices !== undefined) {
    if (!choices.includes(value)) throw invalidValue(name);
    return value;
  }
  if (!isTextual(name)) {
    throw new SqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
  }
  if (DOCUMENTS.has(name) && !isJsonObject(value)) throw invalidValue(name);
  return value;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function invalidValue(name: string): SqsError {
  return new SqsError("InvalidAttributeValue", `Invalid value for the parameter ${name}.`);
}
