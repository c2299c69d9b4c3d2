/** SQS and DynamoDB on this machine: embedded in this process, or at any endpoint. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@leasehold/clock";
import { type EmbeddedSqs, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { type EmbeddedDynamodb, startEmbeddedDynamodb } from "./embedded-dynamodb.ts";
import {
  type AwsClients,
  type AwsEndpoints,
  connect,
  type Environment,
  embeddedEndpoints,
  endpointsFrom,
  environmentOf,
} from "./endpoint.ts";

/** AWS in this process. */
export interface EmbeddedAwsOptions {
  readonly mode: "embedded";
  /** @defaultValue the clock of this process */
  readonly clock?: Clock;
  /**
   * Keeps queues and tables over restarts, in `sqs/` and `dynamodb/` below it; in memory when
   * absent. One process at a time may have it.
   */
  readonly folder?: string;
  /** @defaultValue 0: any free port */
  readonly sqsPort?: number;
  /** @defaultValue 0: any free port */
  readonly dynamodbPort?: number;
}

/** AWS, or something like it, that runs elsewhere. */
export interface EndpointAwsOptions {
  readonly mode: "endpoint";
  /** Must have `AWS_ENDPOINT_URL` (or one for each service) and `AWS_REGION`. */
  readonly environment: Environment;
}

/** Where AWS is to be for this run. */
export type LocalAwsOptions = EmbeddedAwsOptions | EndpointAwsOptions;

/** AWS for one run, with clients that go there. */
export interface LocalAws extends AwsClients {
  readonly sqsEndpoint: string;
  readonly dynamodbEndpoint: string;
  /** Sends the SDK of a child process there; what is `undefined` must not be set in it. */
  readonly environment: Environment;
  /** The embedded queues as they are inside; absent when AWS is elsewhere. */
  readonly embedded?: EmbeddedSqs;
  /** Ends the clients and what was started. Calling it twice is the same as once. */
  close(): Promise<void>;
}

/**
 * Starts AWS here, or finds it where the environment says.
 *
 * @throws EndpointUnknownError when the environment does not say where it is
 * @throws Error of the system, with its `code`, when a port is taken or a folder cannot be opened
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  if (options.mode === "endpoint") {
    return assemble(endpointsFrom(options.environment), async () => {});
  }
  const { clock = systemClock, folder, sqsPort = 0, dynamodbPort = 0 } = options;
  const sqs = await startEmbeddedSqs({
    clock,
    port: sqsPort,
    ...(await below(folder, "sqs")),
  });
  let dynamodb: EmbeddedDynamodb;
  try {
    dynamodb = await startEmbeddedDynamodb({
      clock,
      port: dynamodbPort,
      ...(await below(folder, "dynamodb")),
    });
  } catch (error) {
    await sqs.close();
    throw error;
  }
  const endpoints = embeddedEndpoints(sqs.endpoint, dynamodb.endpoint);
  const stop = async () => {
    await Promise.all([sqs.close(), dynamodb.close()]);
  };
  return { ...assemble(endpoints, stop), embedded: sqs };
}

async function below(
  folder: string | undefined,
  name: string,
): Promise<{ readonly folder?: string }> {
  if (folder === undefined) return {};
  const path = join(folder, name);
  await mkdir(path, { recursive: true });
  return { folder: path };
}

function assemble(endpoints: AwsEndpoints, stop: () => Promise<void>): LocalAws {
  const clients = connect(endpoints);
  let closing: Promise<void> | undefined;
  return {
    ...clients,
    sqsEndpoint: endpoints.sqsEndpoint,
    dynamodbEndpoint: endpoints.dynamodbEndpoint,
    environment: environmentOf(endpoints),
    close: () => {
      clients.sqs.destroy();
      clients.dynamodb.destroy();
      closing ??= stop();
      return closing;
    },
  };
}
