/** AWS clients from flags and environment. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import type { Environment } from "@leasehold/local-aws";
import { CommandMisusedError } from "./errors.ts";

/** Where AWS is, as far as flags say it; what is absent is told by the environment. */
export interface AwsAccessFlags {
  readonly region?: string;
  readonly sqsEndpoint?: string;
  readonly dynamodbEndpoint?: string;
}

type Service = "sqs" | "dynamodb" | "s3";

/** What every client has in common. */
export interface ClientSettings {
  readonly region: string;
  readonly endpoint?: string;
  readonly credentials?: {
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken?: string;
  };
  readonly requestHandler: NonNullable<SQSClientConfig["requestHandler"]>;
}

/** Clients of one account, and what to call the places they go to in a message. */
export interface AwsAccess {
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly sqsPlace: string;
  readonly dynamodbPlace: string;
  /** What a further client is made with. */
  settingsOf(service: Service): ClientSettings;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Clients that go where the flags say, else where `AWS_ENDPOINT_URL[_SQS|_DYNAMODB]` says, else to
 * the region's own endpoints. Credentials that stand in no variable are the SDK's own matter.
 *
 * @throws CommandMisusedError when there is no region, or an address that is none
 */
export function openAws(flags: AwsAccessFlags, environment: Environment): AwsAccess {
  const region = flags.region ?? named(environment, "AWS_REGION", "AWS_DEFAULT_REGION")?.value;
  if (region === undefined) {
    throw new CommandMisusedError(
      "no region is known: give --region or set AWS_REGION, for example to eu-central-1",
    );
  }
  const flagOf = { sqs: flags.sqsEndpoint, dynamodb: flags.dynamodbEndpoint, s3: undefined };
  const credentials = credentialsIn(environment);
  const settingsOf = (service: Service): ClientSettings => {
    const endpoint = endpointOf(service, flagOf[service], environment);
    return {
      region,
      // The SDK writes into the credentials that it is given: each client has its own.
      ...(credentials === undefined ? {} : { credentials: { ...credentials } }),
      ...(endpoint === undefined ? {} : { endpoint }),
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      },
    };
  };
  const place = ({ endpoint }: ClientSettings) => endpoint ?? `AWS in ${region}`;
  const [forSqs, forDynamodb] = [settingsOf("sqs"), settingsOf("dynamodb")];
  const sqs = new SQSClient(forSqs);
  const dynamodb = new DynamoDBClient(forDynamodb);
  return {
    ...{ sqs, dynamodb, sqsPlace: place(forSqs), dynamodbPlace: place(forDynamodb), settingsOf },
    close: () => {
      sqs.destroy();
      dynamodb.destroy();
    },
  };
}

function endpointOf(
  service: Service,
  flag: string | undefined,
  environment: Environment,
): string | undefined {
  const own = `AWS_ENDPOINT_URL_${service.toUpperCase()}`;
  const found =
    flag === undefined
      ? named(environment, own, "AWS_ENDPOINT_URL")
      : { name: `--${service}-endpoint`, value: flag };
  if (found === undefined) return undefined;
  const { name, value } = found;
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new CommandMisusedError(
    `${name} must be an address like http://127.0.0.1:4566, got ${JSON.stringify(value)}`,
  );
}

function credentialsIn(environment: Environment) {
  const accessKeyId = named(environment, "AWS_ACCESS_KEY_ID")?.value;
  const secretAccessKey = named(environment, "AWS_SECRET_ACCESS_KEY")?.value;
  // A profile goes before them, as in the SDK.
  if (named(environment, "AWS_PROFILE") !== undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const sessionToken = named(environment, "AWS_SESSION_TOKEN")?.value;
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** The first variable that is set; an empty one counts as not set. */
function named(environment: Environment, ...names: readonly string[]) {
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined && value !== "") return { name, value };
  }
  return undefined;
}
