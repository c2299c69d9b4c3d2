/** Messages of services that do not use the producer, read as jobs. */

import type { EnvelopeReading, MalformedReason } from "./envelope.ts";
import { InvalidIdentityError } from "./errors.ts";
import { parseJobId, parseJobType, parseTenantId } from "./identity.ts";
import { nestsTooDeep } from "./nesting.ts";
import { readEnvelope } from "./read-envelope.ts";

/** A message as it came. */
export interface ForeignMessage {
  /** SQS's, or within a notification that of SNS: the same in every delivery. */
  readonly messageId: string;
  readonly body: string;
  /** As text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Unix time; 0 when nobody said. */
  readonly sentAtMs: number;
}

/** Reads a message as a job; `undefined` when it is not one of those that it knows. */
export type MessageReader = (message: ForeignMessage) => EnvelopeReading | undefined;

/** Which job a message is. */
export interface ForeignIdentity {
  readonly tenantId: string;
  /**
   * A business identity: the same job however often its message was sent.
   * @defaultValue the id that the message's source has given it
   */
  readonly jobId?: string;
}

/** How messages of one kind become jobs. None of the functions may change what it is given. */
export interface ForeignRules<Content> {
  /** The type of the job. */
  readonly type: string | ((content: Content) => string);
  readonly identity: (content: Content, message: ForeignMessage) => ForeignIdentity;
  /** Whether a message is of this kind; others are left to further readers. @defaultValue all are */
  readonly accepts?: (content: Content, message: ForeignMessage) => boolean;
  /** What the job's schema is to check. @defaultValue the content */
  readonly payload?: (content: Content) => unknown;
}

/** What a message has said about itself. */
export interface ForeignContent<Content> {
  readonly content: Content;
  /** When the rules give none. */
  readonly jobId: string;
  readonly createdAtMs: number;
}

/**
 * Reads plain JSON of any shape.
 *
 * @example
 * const orders = fromJson<Order>({
 *   type: "order.placed",
 *   identity: ({ shop, orderId }) => ({ tenantId: shop, jobId: orderId }),
 * });
 */
export function fromJson<Content = unknown>(rules: ForeignRules<Content>): MessageReader {
  return (message) => {
    const json = parseJson(message.body);
    if (json === undefined) return undefined;
    const { messageId: jobId, sentAtMs: createdAtMs } = message;
    return readContent({ content: json.value as Content, jobId, createdAtMs }, message, rules);
  };
}

/**
 * What a message is: a job of the producer, or else what the first reader says that knows it.
 *
 * Whatever looks like an envelope is one, also when it is malformed: no reader can take it for
 * something else. Never throws, whatever the message holds or a reader does.
 */
export function readMessage(
  message: ForeignMessage,
  readers: readonly MessageReader[] = [],
): EnvelopeReading {
  const reading = readEnvelope(message.body, message.attributes);
  if (reading.kind !== "malformed" || readers.length === 0) return reading;
  if (looksLikeEnvelope(message.body)) return reading;
  return firstOf(readers, message) ?? reading;
}

/** What the first reader says that knows the message. */
export function firstOf(
  readers: readonly MessageReader[],
  message: ForeignMessage,
): EnvelopeReading | undefined {
  for (const read of readers) {
    const reading = read(message);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

/** The content as a job by its rules; `undefined` when they do not accept it. */
export function readContent<Content>(
  { content, jobId, createdAtMs }: ForeignContent<Content>,
  message: ForeignMessage,
  rules: ForeignRules<Content>,
): EnvelopeReading | undefined {
  try {
    if (rules.accepts?.(content, message) === false) return undefined;
    const identity = rules.identity(content, message);
    const { type, payload = (whole: Content) => whole } = rules;
    const job = {
      tenantId: parseTenantId(identity?.tenantId),
      jobId: parseJobId(identity?.jobId ?? jobId),
      jobType: parseJobType(typeof type === "function" ? type(content) : type),
    };
    return { kind: "job", job: { ...job, payload: payload(content), createdAtMs } };
  } catch (error) {
    // Any other message may quote what the job carries.
    const isOurs = error instanceof InvalidIdentityError;
    const name = error instanceof Error ? error.name : typeof error;
    const detail = isOurs ? error.message : `the rules of its reader threw (${name})`;
    return malformed("invalid-field", detail);
  }
}

/** A reading that says why a message is no job. */
export function malformed(reason: MalformedReason, detail: string): EnvelopeReading {
  return { kind: "malformed", reason, detail };
}

/** The value, in an object because it may be anything; `undefined` for what is no JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  if (nestsTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // its parser's message would quote it
  }
}

/** The fields of a JSON object; none of anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Unix time of an ISO 8601 text; `fallbackMs` for anything else. */
export function momentOf(value: unknown, fallbackMs: number): number {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(atMs) ? atMs : fallbackMs;
}

function looksLikeEnvelope(body: string): boolean {
  const fields = fieldsOf(parseJson(body)?.value);
  return Object.hasOwn(fields, "v") && Object.hasOwn(fields, "tenant_id");
}
