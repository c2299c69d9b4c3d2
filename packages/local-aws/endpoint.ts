/** Where AWS is for this run, and the clients that go there. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { EndpointUnknownError } from "./errors.ts";

/** Variables of a process; one that is `undefined` is not to be set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where AWS is, and which credentials open it; the SDK's own search when absent. */
export interface AwsEndpoints {
  readonly sqsEndpoint: string;
  readonly dynamodbEndpoint: string;
  readonly region: string;
  readonly mode: AwsMode;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Where AWS is: in this process, or wherever the environment says. */
export type AwsMode = "embedded" | "endpoint";

/** Clients of one account. */
export interface AwsClients {
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
}

/** What the embedded services run as; they check neither. */
const EMBEDDED_REGION = "us-east-1";
const EMBEDDED_CREDENTIALS = Object.freeze({ accessKeyId: "test", secretAccessKey: "test" });

/** The embedded services at these addresses. */
export function embeddedEndpoints(sqsEndpoint: string, dynamodbEndpoint: string): AwsEndpoints {
  return {
    mode: "embedded",
    sqsEndpoint,
    dynamodbEndpoint,
    region: EMBEDDED_REGION,
    credentials: EMBEDDED_CREDENTIALS,
  };
}

/**
 * The endpoint that the environment names: `AWS_ENDPOINT_URL`, or one for each service by
 * `AWS_ENDPOINT_URL_SQS` and `AWS_ENDPOINT_URL_DYNAMODB`, which go first as in the SDK.
 *
 * @throws EndpointUnknownError naming every variable that is missing or makes no sense
 */
export function endpointsFrom(environment: Environment): AwsEndpoints {
  const problems: string[] = [];
  const endpoint = (service: string) => {
    const name = environment[`AWS_ENDPOINT_URL_${service}`]
      ? `AWS_ENDPOINT_URL_${service}`
      : "AWS_ENDPOINT_URL";
    const value = environment[name] ?? "";
    if (value === "") problems.push(`${name} is not set, for example to http://127.0.0.1:4566`);
    else if (!isHttpUrl(value)) problems.push(`${name} must be an http or https URL, got ${value}`);
    return value;
  };
  const sqsEndpoint = endpoint("SQS");
  const dynamodbEndpoint = endpoint("DYNAMODB");
  const region = environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || "";
  if (region === "") problems.push("AWS_REGION is not set, for example to us-east-1");
  if (problems.length > 0) throw new EndpointUnknownError([...new Set(problems)].join("; "));
  return { mode: "endpoint", sqsEndpoint, dynamodbEndpoint, region };
}

/**
 * Variables that send the AWS SDK of another process there. For the embedded services a profile or
 * a session of the caller is taken away: with `AWS_PROFILE` set, the SDK ignores the other ones.
 */
export function environmentOf(endpoints: AwsEndpoints): Environment {
  return {
    AWS_ENDPOINT_URL_SQS: endpoints.sqsEndpoint,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodbEndpoint,
    AWS_REGION: endpoints.region,
    ...(endpoints.credentials === undefined
      ? {}
      : {
          AWS_ACCESS_KEY_ID: endpoints.credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: endpoints.credentials.secretAccessKey,
          AWS_PROFILE: undefined,
          AWS_SESSION_TOKEN: undefined,
        }),
  };
}

/** Clients that go there; whoever asked for them destroys them. */
export function connect(endpoints: AwsEndpoints): AwsClients {
  const { region, credentials } = endpoints;
  // The SDK writes into the credentials that it is given: each client has its own.
  const common = () => ({
    region,
    ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
  });
  return {
    sqs: new SQSClient({ ...common(), endpoint: endpoints.sqsEndpoint }),
    dynamodb: new DynamoDBClient({ ...common(), endpoint: endpoints.dynamodbEndpoint }),
  };
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
