/** Each ledger write as a DynamoDB request with its condition. Pure. */

import type { AttributeValue, UpdateItemCommandInput } from "@aws-sdk/client-dynamodb";
import {
  effectAttribute,
  effectValue,
  fieldAttributeNames,
  fieldAttributes,
  identityAttributes,
  itemKey,
  PARK_TOKEN,
} from "./dynamodb-item.ts";
import type { EffectCondition, LedgerWrite, RecordField, WriteCondition } from "./ledger-store.ts";

/** Collects names and values under short aliases: `state` and `owner` are reserved words. */
class Aliases {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, AttributeValue> = {};
  readonly #known = new Map<string, string>();

  name(attribute: string): string {
    const known = this.#known.get(attribute);
    if (known !== undefined) return known;
    const alias = `#n${this.#known.size}`;
    this.#known.set(attribute, alias);
    this.names[alias] = attribute;
    return alias;
  }

  value(value: AttributeValue): string {
    const alias = `:v${Object.keys(this.values).length}`;
    this.values[alias] = value;
    return alias;
  }
}

/** The write as an UpdateItem. A refused condition returns the item where the store can do that. */
export function updateRequest(tableName: string, write: LedgerWrite): UpdateItemCommandInput {
  const aliases = new Aliases();
  const update = updateExpression(write, aliases);
  const condition = conditionExpression(write.condition, aliases);
  return {
    TableName: tableName,
    Key: itemKey(write.job),
    UpdateExpression: update,
    ConditionExpression: condition,
    ExpressionAttributeNames: aliases.names,
    ...(Object.keys(aliases.values).length > 0 && { ExpressionAttributeValues: aliases.values }),
    ReturnValues: write.returnsRecord === true ? "ALL_NEW" : "NONE",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}

function updateExpression({ job, condition, patch }: LedgerWrite, aliases: Aliases): string {
  const { set, remove = [], effects = {} } = patch;
  const fields = Object.entries(set).map(([field, value]) =>
    fieldAttributes(field as RecordField, value),
  );
  const maps = Object.entries(effects).map(([name, effect]) => ({
    [effectAttribute(name)]: effectValue(effect),
  }));
  const identity = condition.absent === true ? [identityAttributes(job)] : [];
  const written = Object.assign({}, ...identity, ...fields, ...maps);
  const sets = Object.entries(written as Record<string, AttributeValue>).map(
    ([attribute, value]) => `${aliases.name(attribute)} = ${aliases.value(value)}`,
  );
  const removed = remove.flatMap(fieldAttributeNames).map((name) => aliases.name(name));
  return [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(", ")}`]),
    ...(removed.length === 0 ? [] : [`REMOVE ${removed.join(", ")}`]),
  ].join(" ");
}

function conditionExpression(condition: WriteCondition, aliases: Aliases): string {
  if (condition.absent === true) return `attribute_not_exists(${aliases.name("pk")})`;
  const { epoch, owner, states, effect, closed = [], parkToken, resendToken } = condition;
  const equals = (attribute: string, value: AttributeValue) =>
    `${aliases.name(attribute)} = ${aliases.value(value)}`;
  return [
    // An update of an item that is not there would make one.
    `attribute_exists(${aliases.name("pk")})`,
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
  return `${path} IN (${values.join(", ")})`;
}
