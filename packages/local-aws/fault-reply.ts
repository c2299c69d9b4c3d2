/** How AWS words its own faults over HTTP, for a proxy that must say them in its place. Pure. */

import type { ThrottleCode } from "./fault-plan.ts";

/** An answer that no service gave. */
export interface FaultReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const DYNAMODB = /^DynamoDB_\d+\./;
const DYNAMODB_PREFIX = "com.amazonaws.dynamodb.v20120810";

const THROUGHPUT_EXCEEDED =
  "The level of configured provisioned throughput for the table was exceeded.";

/** Names of errors that all services share have a prefix of their own. */
const SHARED_PREFIX = "com.amazon.coral.availability";

/**
 * Too many requests. SQS says `RequestThrottled` with 403 and `ThrottlingException` with 400;
 * DynamoDB says `ThrottlingException` or, when one table is meant,
 * `ProvisionedThroughputExceededException`.
 * @param target - `X-Amz-Target` of the request
 */
export function throttleReply(target: string, code?: ThrottleCode): FaultReply {
  const isDynamodb = DYNAMODB.test(target);
  const wanted = code ?? (isDynamodb ? "ThrottlingException" : "RequestThrottled");
  if (wanted === "RequestThrottled") {
    const message = "The request was denied due to request throttling.";
    return reply(target, 403, "com.amazonaws.sqs#RequestThrottled", message);
  }
  if (wanted === "ProvisionedThroughputExceededException") {
    return reply(target, 400, `${DYNAMODB_PREFIX}#${wanted}`, THROUGHPUT_EXCEEDED);
  }
  return reply(target, 400, `${SHARED_PREFIX}#ThrottlingException`, "Rate exceeded");
}

/** 500, the service failed; 503, it could not be asked. */
export function serverErrorReply(target: string, status: 500 | 503): FaultReply {
  if (status === 503) {
    const message = "Service is currently unavailable. Please try again.";
    return reply(target, 503, `${SHARED_PREFIX}#ServiceUnavailable`, message);
  }
  const message = "We encountered an internal error. Please try again.";
  const name = DYNAMODB.test(target)
    ? `${DYNAMODB_PREFIX}#InternalServerError`
    : "com.amazon.coral.service#InternalFailure";
  return reply(target, 500, name, message);
}

function reply(target: string, status: number, type: string, message: string): FaultReply {
  const isDynamodb = DYNAMODB.test(target);
  const code = type.slice(type.indexOf("#") + 1);
  const body = Buffer.from(JSON.stringify({ __type: type, message }));
  return {
    status,
    body,
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "content-length": String(body.length),
      // The SDK of SQS takes the name of an error from here, as it did before SQS spoke JSON.
      ...(isDynamodb
        ? {}
        : { "x-amzn-query-error": `${code};${status < 500 ? "Sender" : "Receiver"}` }),
    },
  };
}
