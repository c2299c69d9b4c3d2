/** The redrive policy of a queue: where its messages go when nobody manages to work them. Pure. */

import { SqsError } from "./errors.ts";
import type { QueueAttributes } from "./queue-change.ts";

/** A message that was received this often is moved by the next receive that meets it. */
export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

const MAX_RECEIVE_COUNT = 1_000;

/**
 * The policy in these attributes, if there is one.
 * @throws SqsError InvalidParameterValue when it is none that SQS takes
 */
export function readRedrivePolicy(attributes: QueueAttributes): RedrivePolicy | undefined {
  const json = attributes["RedrivePolicy"];
  if (json === undefined) return undefined;
  const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(json) as Record<string, unknown>;
  const count = Number(maxReceiveCount);
  if (typeof deadLetterTargetArn !== "string") {
    throw invalidPolicy(
      json,
      "Redrive policy does not contain mandatory attribute: deadLetterTargetArn.",
    );
  }
  if (maxReceiveCount === undefined) {
    throw invalidPolicy(
      json,
      "Redrive policy does not contain mandatory attribute: maxReceiveCount.",
    );
  }
  if (!Number.isInteger(count) || count < 1 || count > MAX_RECEIVE_COUNT) {
    throw invalidPolicy(
      json,
      `Invalid value for maxReceiveCount: ${String(maxReceiveCount)}, valid values are from 1 to 1000 both inclusive.`,
    );
  }
  return { deadLetterTargetArn, maxReceiveCount: count };
}

/** Why a redrive policy is refused, in SQS's words. */
export function invalidPolicy(json: string, reason: string): SqsError {
  return new SqsError(
    "InvalidParameterValue",
    `Value ${json} for parameter RedrivePolicy is invalid. Reason: ${reason}`,
  );
}
