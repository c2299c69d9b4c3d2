/** Each ledger write as a DynamoDB request with its condition. Pure. */

import type {
  AttributeValue,
  PutItemCommandInput,
  UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import {
  addField,
  effectAttribute,
  effectProgress,
  effectValue,
  fieldAttributeNames,
  identityAttributes,
  isImplied,
  itemKey,
  PARK_TOKEN,
} from "./dynamodb-item.ts";
import type { EffectRecord } from "./ledger-record.ts";
import type {
  EffectCondition,
  LedgerWrite,
  RecordField,
  RecordPatch,
  WriteCondition,
} from "./ledger-store.ts";

/** Words of ours that DynamoDB reserves. */
const RESERVED: ReadonlySet<string> = new Set(["owner", "result", "state"]);
const PLAIN_NAME = /^[a-zA-Z][a-zA-Z0-9]*$/;

/**
 * Collects values under short aliases, and the names that an expression cannot say as they are: each
 * alias has to be sent, and looked up, too.
 */
class Aliases {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, AttributeValue> = {};
  readonly #known = new Map<string, string>();
  #valueCount = 0;

  name(attribute: string): string {
    const known = this.#known.get(attribute);
    if (known !== undefined) return known;
    if (PLAIN_NAME.test(attribute) && !RESERVED.has(attribute)) return attribute;
    const alias = `#n${this.#known.size}`;
    this.#known.set(attribute, alias);
    this.names[alias] = attribute;
    return alias;
  }

  value(value: AttributeValue): string {
    const alias = `:v${this.#valueCount}`;
    this.#valueCount += 1;
    this.values[alias] = value;
    return alias;
  }
}

type NewItem = Record<string, AttributeValue>;

/**
 * A write that makes a record, as a PutItem: it carries the item as it is and hardly an expression,
 * which costs less to say and to read than an update of every attribute.
 */
export function putRequest(tableName: string, { job, patch }: LedgerWrite): PutItemCommandInput {
  return {
    TableName: tableName,
    Item: newItem(job, patch),
    ConditionExpression: "attribute_not_exists(pk)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

/**
 * A write to a record that is there, as an UpdateItem. A refused condition returns the item where the
 * store can do that.
 */
export function updateRequest(tableName: string, write: LedgerWrite): UpdateItemCommandInput {
  const aliases = new Aliases();
  const update = updateExpression(write, aliases);
  const condition = conditionExpression(write.condition, aliases);
  return {
    TableName: tableName,
    Key: itemKey(write.job),
    UpdateExpression: update,
    ConditionExpression: condition,
    ...(Object.keys(aliases.names).length > 0 && { ExpressionAttributeNames: aliases.names }),
    ...(Object.keys(aliases.values).length > 0 && { ExpressionAttributeValues: aliases.values }),
    ...(write.returnsRecord === true && { ReturnValues: "ALL_NEW" }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

function newItem(job: LedgerWrite["job"], { set, effects }: RecordPatch): NewItem {
  const item: NewItem = { ...itemKey(job), ...identityAttributes(job) };
  for (const field of fieldsOf(set)) {
    if (!isImplied(field, set[field])) addField(item, field, set[field]);
  }
  addEffects(item, effects);
  return item;
}

function addEffects(item: NewItem, effects: RecordPatch["effects"] = {}): void {
  for (const [name, effect] of Object.entries(effects)) {
    item[effectAttribute(name)] = effectValue(effect);
  }
}

function fieldsOf(set: RecordPatch["set"]): readonly RecordField[] {
  return Object.keys(set) as RecordField[];
}

function updateExpression({ condition, patch }: LedgerWrite, aliases: Aliases): string {
  const { set, effects = {}, remove = [] } = patch;
  const written: NewItem = {};
  for (const field of fieldsOf(set)) addField(written, field, set[field]);
  const sets = Object.entries(written).map(
    ([attribute, value]) => `${aliases.name(attribute)} = ${aliases.value(value)}`,
  );
  for (const [name, effect] of Object.entries(effects)) {
    sets.push(...effectSets(name, effect, condition, aliases));
  }
  const removed = remove.flatMap(fieldAttributeNames).map((name) => aliases.name(name));
  return [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(", ")}`]),
    ...(removed.length === 0 ? [] : [`REMOVE ${removed.join(", ")}`]),
  ].join(" ");
}

/** An open effect that keeps its nonce is not said again as a whole: nothing else of it changes. */
function effectSets(
  name: string,
  effect: EffectRecord,
  condition: WriteCondition,
  aliases: Aliases,
): readonly string[] {
  const map = aliases.name(effectAttribute(name));
  if (!keepsNonce(name, effect, condition)) {
    return [`${map} = ${aliases.value(effectValue(effect))}`];
  }
  return Object.entries(effectProgress(effect)).map(
    ([field, value]) => `${map}.${aliases.name(field)} = ${aliases.value(value)}`,
  );
}

/** What a closed effect says of its end may have to go: that is written as a whole. */
function keepsNonce(name: string, { nonce }: EffectRecord, { effect }: WriteCondition): boolean {
  return (
    effect?.name === name &&
    effect.nonce === nonce &&
    effect.states.every((state) => state === "started" || state === "unknown")
  );
}

function conditionExpression(condition: WriteCondition, aliases: Aliases): string {
  const { epoch, owner, states, effect, closed = [], parkToken, resendToken } = condition;
  const equals = (attribute: string, value: AttributeValue) =>
    `${aliases.name(attribute)} = ${aliases.value(value)}`;
  // An update of an item that is not there would make one; what is compared with a value is there.
  const isCompared = epoch !== undefined || owner !== undefined || effect?.nonce !== undefined;
  return [
    ...(isCompared ? [] : [`attribute_exists(${aliases.name("pk")})`]),
    ...(epoch === undefined ? [] : [equals("epoch", { N: String(epoch) })]),
    ...(owner === undefined ? [] : [equals("owner", { S: owner })]),
    ...(states === undefined ? [] : [isOneOf(aliases.name("state"), states, aliases)]),
    ...(effect === undefined ? [] : [effectCondition(effect, aliases)]),
    ...closed.map((name) => isClosed(name, aliases)),
    ...(parkToken === undefined ? [] : [equals(PARK_TOKEN, { S: parkToken })]),
    ...(resendToken === undefined ? [] : [equals("resend", { S: resendToken })]),
  ].join(" AND ");
}

function effectCondition(effect: EffectCondition, aliases: Aliases): string {
  const map = aliases.name(effectAttribute(effect.name));
  const inner = (name: string) => `${map}.${aliases.name(name)}`;
  const all = [
    isOneOf(inner("s"), effect.states, aliases),
    ...(effect.nonce === undefined
      ? []
      : [`${inner("n")} = ${aliases.value({ S: effect.nonce })}`]),
    ...(effect.attempts === undefined
      ? []
      : [`${inner("a")} = ${aliases.value({ N: String(effect.attempts) })}`]),
  ].join(" AND ");
  return effect.orAbsent === true ? `(attribute_not_exists(${map}) OR (${all}))` : all;
}

function isClosed(effect: string, aliases: Aliases): string {
  const state = `${aliases.name(effectAttribute(effect))}.${aliases.name("s")}`;
  return isOneOf(state, ["done", "released"], aliases);
}

function isOneOf(path: string, states: readonly string[], aliases: Aliases): string {
  const values = states.map((state) => aliases.value({ S: state.toUpperCase() }));
  if (values.length === 1) return `${path} = ${values[0]}`;
  return `${path} IN (${values.join(", ")})`;
}
