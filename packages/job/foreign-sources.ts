/** Notifications of SNS, EventBridge and S3, as AWS sends them to a queue. */

import { createHash } from "node:crypto";
import {
  type ForeignMessage,
  type ForeignRules,
  fieldsOf,
  firstOf,
  type MessageReader,
  malformed,
  momentOf,
  parseJson,
  readContent,
} from "./foreign-message.ts";
import { MAX_ID_BYTES } from "./identity.ts";
import { readEnvelope } from "./read-envelope.ts";

/**
 * Unwraps notifications of SNS. What is in one is a job of the producer, or what the first of the
 * readers knows. With raw message delivery there is nothing to unwrap: give the readers alone then.
 *
 * @see SNS Developer Guide, "Amazon SNS message format": Notification
 * @example
 * const reader = fromSns(fromS3({ type: "upload.scan", identity: () => ({ tenantId: "acme" }) }));
 */
export function fromSns(...readers: readonly MessageReader[]): MessageReader {
  return (message) => {
    const { Type, Message, MessageId, Timestamp, MessageAttributes } = fieldsOf(
      parseJson(message.body)?.value,
    );
    if (Type !== "Notification" || typeof Message !== "string") return undefined;
    const inner: ForeignMessage = {
      messageId: typeof MessageId === "string" ? MessageId : message.messageId,
      body: Message,
      attributes: textsOf(MessageAttributes),
      sentAtMs: momentOf(Timestamp, message.sentAtMs),
    };
    const reading = readEnvelope(inner.body, inner.attributes);
    return reading.kind === "malformed" ? (firstOf(readers, inner) ?? reading) : reading;
  };
}

/** An event of EventBridge. */
export interface EventBridgeEvent {
  readonly id: string;
  readonly source: string;
  readonly "detail-type": string;
  readonly account?: string;
  readonly region?: string;
  readonly time?: string;
  readonly resources?: readonly string[];
  readonly detail: unknown;
}

/**
 * Reads events of EventBridge. Their payload is `detail` unless the rules say otherwise, their job id
 * the event's id, which is the same in every delivery of it.
 *
 * @see EventBridge User Guide, "Events in Amazon EventBridge"
 */
export function fromEventBridge(rules: ForeignRules<EventBridgeEvent>): MessageReader {
  return (message) => {
    const fields = fieldsOf(parseJson(message.body)?.value);
    const { id, source, "detail-type": detailType, time } = fields;
    const texts = [id, source, detailType];
    if (!texts.every((text) => typeof text === "string") || !Object.hasOwn(fields, "detail")) {
      return undefined;
    }
    const content = fields as unknown as EventBridgeEvent;
    const createdAtMs = momentOf(time, message.sentAtMs);
    const payload = rules.payload ?? (({ detail }: EventBridgeEvent) => detail);
    return readContent({ content, jobId: content.id, createdAtMs }, message, { ...rules, payload });
  };
}

/** What happened to one object. */
export interface S3ObjectEvent {
  /** For example `ObjectCreated:Put`. */
  readonly eventName: string;
  readonly bucket: string;
  /** As it was named: S3 writes it with `+` and `%`. */
  readonly key: string;
  readonly sizeBytes?: number;
  readonly eTag?: string;
  readonly versionId?: string;
  /** Orders the events of one key. */
  readonly sequencer?: string;
}

/**
 * Reads event notifications of S3. The job id is made of bucket, key and the version or sequencer, so
 * that an event that S3 sends twice is one job.
 *
 * A notification has one record, as S3 has sent them so far; one of several would be several jobs and
 * is malformed, as is the test event that S3 sends when notifications are set up.
 *
 * @see S3 User Guide, "Event message structure"
 */
export function fromS3(rules: ForeignRules<S3ObjectEvent>): MessageReader {
  return (message) => {
    const fields = fieldsOf(parseJson(message.body)?.value);
    if (fields["Service"] === "Amazon S3" && fields["Event"] === "s3:TestEvent") {
      return malformed("invalid-field", "a test event of S3: its notifications arrive");
    }
    const records = fields["Records"];
    if (!Array.isArray(records) || fieldsOf(records[0])["eventSource"] !== "aws:s3") {
      return undefined;
    }
    if (records.length > 1) {
      return malformed("invalid-field", `${records.length} records of S3 in one message`);
    }
    const record = fieldsOf(records[0]);
    const content = objectEventOf(record);
    if (content === undefined) {
      return malformed("invalid-field", "a record of S3 without a bucket, a key or an eventName");
    }
    const createdAtMs = momentOf(record["eventTime"], message.sentAtMs);
    return readContent({ content, jobId: objectId(content), createdAtMs }, message, rules);
  };
}

function objectEventOf(record: Readonly<Record<string, unknown>>): S3ObjectEvent | undefined {
  const { bucket, object } = fieldsOf(record["s3"]);
  const { name } = fieldsOf(bucket);
  const { key, size, eTag, versionId, sequencer } = fieldsOf(object);
  const { eventName } = record;
  const texts = [name, key, eventName];
  if (!texts.every((text) => typeof text === "string" && text !== "")) return undefined;
  return {
    eventName: eventName as string,
    bucket: name as string,
    key: decodeKey(key as string),
    ...(typeof size === "number" && { sizeBytes: size }),
    ...(typeof eTag === "string" && { eTag }),
    ...(typeof versionId === "string" && { versionId }),
    ...(typeof sequencer === "string" && { sequencer }),
  };
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key; // written by something else than S3
  }
}

function objectId({ bucket, key, versionId, sequencer, eventName }: S3ObjectEvent): string {
  const text = [bucket, key, versionId ?? "", sequencer ?? "", eventName]
    .map(encodeURIComponent)
    .join("/");
  if (Buffer.byteLength(text) <= MAX_ID_BYTES) return text;
  return `${encodeURIComponent(bucket)}/${createHash("sha256").update(text).digest("hex")}`;
}

function textsOf(attributes: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsOf(attributes)).flatMap(([name, attribute]) => {
    const { Value } = fieldsOf(attribute);
    return typeof Value === "string" ? [[name, Value] as const] : [];
  });
  return Object.fromEntries(entries);
}
