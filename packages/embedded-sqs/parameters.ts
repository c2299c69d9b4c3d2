/** Reads parameters of a request and refuses what SQS would refuse. Pure. */

import { invalidParameter, missingParameter } from "./errors.ts";
import type { MessageAttributes } from "./sqs-api.ts";
import type { StoredAttribute } from "./stored-message.ts";

/** @throws SqsError MissingParameter */
export function required<T>(parameter: string, value: T | undefined): T {
  if (value === undefined || value === "") throw missingParameter(parameter);
  return value;
}

/**
 * A whole number in its range, or `undefined` when it was not given.
 * @throws SqsError InvalidParameterValue
 */
export function wholeNumber(
  parameter: string,
  value: number | undefined,
  min: number,
  max: number,
): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidParameter(parameter, value, `Must be between ${min} and ${max}, if provided.`);
}

/** Seconds in their range as milliseconds. @throws SqsError InvalidParameterValue */
export function secondsAsMs(
  parameter: string,
  value: number | undefined,
  max: number,
): number | undefined {
  const seconds = wholeNumber(parameter, value, 0, max);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Attributes as they are stored. */
export function storeAttributes(
  attributes: MessageAttributes | undefined,
): Record<string, StoredAttribute> {
  const stored: Record<string, StoredAttribute> = Object.create(null);
  for (const [name, attribute] of Object.entries(attributes ?? {})) {
    const { DataType, StringValue, BinaryValue } = attribute;
    stored[name] = {
      dataType: DataType ?? "",
      ...(StringValue === undefined ? {} : { text: StringValue }),
      ...(BinaryValue === undefined ? {} : { base64: Buffer.from(BinaryValue).toString("base64") }),
    };
  }
  return stored;
}
