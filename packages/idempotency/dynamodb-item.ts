/** A ledger record as a DynamoDB item, written and read. Pure. */

import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { JobIdentity } from "@leasehold/job";
import type { EffectRecord, JobRecord, Parked, StoredMessage } from "./ledger-record.ts";
import type { RecordField } from "./ledger-store.ts";
import { messageText, readMessageText } from "./message-text.ts";

/** An item, or a part of one. */
export type Item = Readonly<Record<string, AttributeValue>>;

const SORT_KEY = "LEDGER";
const VERSION = 1;
const EFFECT_PREFIX = "fx:";

/** Key of a job's item. The parts are escaped, so that no two jobs share one. */
export function itemKey({ tenantId, jobType, jobId }: JobIdentity): Item {
  const pk = `J#${escaped(tenantId)}#${escaped(jobType)}#${escaped(jobId)}`;
  return { pk: { S: pk }, sk: { S: SORT_KEY } };
}

function escaped(part: string): string {
  return part.includes("#") || part.includes("%")
    ? part.replace(/[%#]/g, encodeURIComponent)
    : part;
}

/** What an item says beside its fields; written when it is made. */
export function identityAttributes({ tenantId, jobType, jobId }: JobIdentity): Item {
  return {
    v: { N: String(VERSION) },
    tenantId: { S: tenantId },
    jobId: { S: jobId },
    jobType: { S: jobType },
  };
}

/** Name of the attribute that holds an effect. */
export function effectAttribute(name: string): string {
  return `${EFFECT_PREFIX}${name}`;
}

interface Codec {
  readonly attribute: string;
  readonly write: (value: never) => AttributeValue;
  readonly read: (value: AttributeValue) => unknown;
}

const NUMBER = (attribute: string): Codec => ({
  attribute,
  write: (value: number) => ({ N: String(value) }),
  read: ({ N }) => Number(N),
});
const TEXT = (attribute: string): Codec => ({
  attribute,
  write: (value: string) => ({ S: value }),
  read: ({ S }) => S,
});
const JSON_TEXT = (attribute: string): Codec => ({
  attribute,
  write: (value: unknown) => ({ S: JSON.stringify(value) }),
  read: ({ S }) => JSON.parse(S as string),
});

/** How each field is kept. `parked` takes more than one attribute: see `parkedAttributes`. */
const CODECS: Readonly<Record<Exclude<RecordField, "parked">, Codec>> = {
  state: {
    attribute: "state",
    write: (value: string) => ({ S: value.toUpperCase() }),
    read: ({ S }) => S?.toLowerCase(),
  },
  generation: NUMBER("gen"),
  epoch: NUMBER("epoch"),
  owner: TEXT("owner"),
  leaseUntilMs: NUMBER("leaseUntil"),
  messageId: TEXT("msgId"),
  receiveCount: NUMBER("rc"),
  payloadHash: TEXT("payloadHash"),
  createdAtMs: NUMBER("createdAt"),
  updatedAtMs: NUMBER("updatedAt"),
  failures: NUMBER("failures"),
  interruptions: NUMBER("interruptions"),
  putOffs: NUMBER("putOffs"),
  starts: NUMBER("starts"),
  endings: NUMBER("endings"),
  checkpoint: TEXT("checkpoint"),
  result: TEXT("result"),
  reason: JSON_TEXT("reason"),
  vouched: { attribute: "vouched", write: () => ({ BOOL: true }), read: () => true },
  resolution: JSON_TEXT("resolution"),
  resendToken: TEXT("resend"),
  // DynamoDB's time to live wants whole seconds.
  expiresAtMs: {
    attribute: "expiresAt",
    write: (value: number) => ({ N: String(Math.ceil(value / 1000)) }),
    read: ({ N }) => Number(N) * 1000,
  },
};

/** What an item does not say, because it is so for most: they end with their first run. */
const IMPLIED: Readonly<Partial<Record<RecordField, number>>> = {
  ...{ generation: 1, receiveCount: 1, starts: 1 },
  ...{ failures: 0, interruptions: 0, putOffs: 0, endings: 0 },
};

/** Token that a resolution is conditioned on, and the index's sort key. */
export const PARK_TOKEN = "parkToken";
/** Only a parked job has it, so only parked jobs are in the index. */
export const PARKED_AT = "parkedAt";
const PARKED = "parked";
const MESSAGE = "message";

/** Adds the attributes that a field is written to. */
export function addField(
  item: Record<string, AttributeValue>,
  field: RecordField,
  value: unknown,
): void {
  if (field === "parked") return void Object.assign(item, parkedAttributes(value as Parked));
  const { attribute, write } = CODECS[field];
  item[attribute] = write(value as never);
}

/** Whether a new item means the same without the field. */
export function isImplied(field: RecordField, value: unknown): boolean {
  return IMPLIED[field] === value;
}

/** The attributes that go when a field goes. */
export function fieldAttributeNames(field: RecordField): readonly string[] {
  if (field === "parked") return [PARKED, PARKED_AT, PARK_TOKEN, MESSAGE];
  return [CODECS[field].attribute];
}

/** The message lies in an attribute of its own, as the text that was measured. */
function parkedAttributes({ atMs, token, message, ...rest }: Parked): Item {
  const isInline = message.kind === "inline";
  const about = isInline ? rest : { ...rest, messageAt: message.at };
  return {
    [PARKED_AT]: { N: String(atMs) },
    [PARK_TOKEN]: { S: token },
    [PARKED]: { S: JSON.stringify(about) },
    ...(isInline && { [MESSAGE]: { S: messageText(message.message) } }),
  };
}

function readParked(item: Item): Parked | undefined {
  const parked = item[PARKED]?.S;
  if (parked === undefined) return undefined;
  const { messageAt, ...rest } = JSON.parse(parked);
  const text = item[MESSAGE]?.S;
  const message: StoredMessage =
    text === undefined || messageAt !== undefined
      ? { kind: "reference", at: messageAt }
      : { kind: "inline", message: readMessageText(text) };
  return { ...rest, atMs: Number(item[PARKED_AT]?.N), token: item[PARK_TOKEN]?.S ?? "", message };
}

/** An effect as a map of short names, as an item of 400 KB may hold many. */
export function effectValue(effect: EffectRecord): AttributeValue {
  return {
    M: {
      ...effectProgress(effect),
      e: { N: String(effect.epoch) },
      n: { S: effect.nonce },
      t0: { N: String(effect.firstSentAtMs) },
      h: { S: effect.inputHash },
      k: { S: effect.providerKey },
    },
  };
}

/** What changes of an effect while its nonce stays: all of it that an attempt has to say at its end. */
export function effectProgress(effect: EffectRecord): Item {
  const { outcome, rejection, result, late, lateResult, tombstone } = effect;
  return {
    s: { S: effect.state.toUpperCase() },
    a: { N: String(effect.attempts) },
    d: { N: String(effect.deadlineAtMs) },
    ...(outcome !== undefined && { o: { S: outcome } }),
    ...(result !== undefined && { r: { S: JSON.stringify(result) } }),
    ...(rejection !== undefined && { rj: { S: JSON.stringify(rejection) } }),
    ...(late !== undefined && { l: { BOOL: true } }),
    ...(lateResult !== undefined && { lr: { S: JSON.stringify(lateResult) } }),
    ...(tombstone !== undefined && { ts: { BOOL: true } }),
  };
}

function readEffect(map: Item): EffectRecord {
  return {
    state: map["s"]?.S?.toLowerCase() as EffectRecord["state"],
    epoch: Number(map["e"]?.N),
    nonce: map["n"]?.S ?? "",
    attempts: Number(map["a"]?.N),
    firstSentAtMs: Number(map["t0"]?.N),
    deadlineAtMs: Number(map["d"]?.N),
    inputHash: map["h"]?.S ?? "",
    providerKey: map["k"]?.S ?? "",
    ...(map["o"]?.S !== undefined && { outcome: map["o"].S as "ok" | "rejected" }),
    ...(map["r"]?.S !== undefined && { result: JSON.parse(map["r"].S) }),
    ...(map["rj"]?.S !== undefined && { rejection: JSON.parse(map["rj"].S) }),
    ...(map["l"] !== undefined && { late: true as const }),
    ...(map["lr"]?.S !== undefined && { lateResult: JSON.parse(map["lr"].S) }),
    ...(map["ts"] !== undefined && { tombstone: true as const }),
  };
}

/** The record that an item holds. */
export function readItem(item: Item): JobRecord {
  const fields = Object.entries(CODECS).flatMap(([field, { attribute, read }]) => {
    const value = item[attribute];
    if (value !== undefined) return [[field, read(value)] as const];
    const implied = IMPLIED[field as RecordField];
    return implied === undefined ? [] : [[field, implied] as const];
  });
  const effects = Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(EFFECT_PREFIX)
      ? [[name.slice(EFFECT_PREFIX.length), readEffect(value.M ?? {})] as const]
      : [],
  );
  const parked = readParked(item);
  return {
    tenantId: item["tenantId"]?.S,
    jobId: item["jobId"]?.S,
    jobType: item["jobType"]?.S,
    ...Object.fromEntries(fields),
    ...(parked !== undefined && { parked }),
    effects: Object.fromEntries(effects),
  } as unknown as JobRecord;
}
