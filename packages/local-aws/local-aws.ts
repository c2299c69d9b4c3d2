/** SQS and DynamoDB on this machine: embedded in this process, or at any endpoint. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@leasehold/clock";
import { type EmbeddedSqs, type RequestObserver, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { startEmbeddedDynamodb } from "./embedded-dynamodb.ts";
import {
  type AwsClients,
  type AwsEndpoints,
  type AwsMode,
  connect,
  type Environment,
  embeddedEndpoints,
  endpointsFrom,
  environmentOf,
} from "./endpoint.ts";
import { lockFolder, type Unlock } from "./folder-lock.ts";

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
  /** Told of every request to the embedded SQS; whoever waits for a change need not ask. */
  readonly onSqsRequest?: RequestObserver;
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
  readonly mode: AwsMode;
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
 * @throws FolderBusyError when another process has the folder
 * @throws Error of the system, with its `code`, when a port is taken or a folder cannot be opened
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  if (options.mode === "endpoint") {
    return assemble(endpointsFrom(options.environment), async () => {});
  }
  const unlock = await lock(options.folder);
  try {
    const { endpoints, sqs, stop } = await startEmbedded(options);
    const stopAndUnlock = () => stop().finally(unlock);
    return { ...assemble(endpoints, stopAndUnlock), embedded: sqs };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function lock(folder: string | undefined): Promise<Unlock> {
  if (folder === undefined) return async () => {};
  await mkdir(folder, { recursive: true });
  return lockFolder(folder);
}

async function startEmbedded(options: EmbeddedAwsOptions): Promise<{
  readonly endpoints: AwsEndpoints;
  readonly sqs: EmbeddedSqs;
  readonly stop: () => Promise<unknown>;
}> {
  const { clock = systemClock, folder, sqsPort = 0, dynamodbPort = 0, onSqsRequest } = options;
  const sqs = await startEmbeddedSqs({
    clock,
    port: sqsPort,
    ...(onSqsRequest === undefined ? {} : { onRequest: onSqsRequest }),
    ...(folder === undefined ? {} : { folder: join(folder, "sqs") }),
  });
  try {
    const dynamodb = await startEmbeddedDynamodb({
      clock,
      port: dynamodbPort,
      ...(folder === undefined ? {} : { folder: join(folder, "dynamodb") }),
    });
    return {
      endpoints: embeddedEndpoints(sqs.endpoint, dynamodb.endpoint),
      sqs,
      stop: () => Promise.all([sqs.close(), dynamodb.close()]),
    };
  } catch (error) {
    await sqs.close();
    throw error;
  }
}

function assemble(endpoints: AwsEndpoints, stop: () => Promise<unknown>): LocalAws {
  const clients = connect(endpoints);
  let closing: Promise<unknown> | undefined;
  return {
    ...clients,
    mode: endpoints.mode,
    sqsEndpoint: endpoints.sqsEndpoint,
    dynamodbEndpoint: endpoints.dynamodbEndpoint,
    environment: environmentOf(endpoints),
    close: async () => {
      clients.sqs.destroy();
      clients.dynamodb.destroy();
      closing ??= stop();
      await closing;
    },
  };
}
