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
import type { FaultPlan } from "./fault-plan.ts";
import { startFaultProxy } from "./fault-proxy.ts";
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
  /** What goes wrong on the way there, for other programs. @defaultValue nothing */
  readonly faults?: FaultPlan;
}

/** AWS, or something like it, that runs elsewhere. */
export interface EndpointAwsOptions {
  readonly mode: "endpoint";
  /** Must have `AWS_ENDPOINT_URL` (or one for each service) and `AWS_REGION`. */
  readonly environment: Environment;
}

/** Where AWS is to be for this run. */
export type LocalAwsOptions = EmbeddedAwsOptions | EndpointAwsOptions;

/**
 * AWS for one run, with clients that go there. They go by no fault: these meet whoever takes the
 * endpoints or the environment.
 */
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
 * @throws RangeError when a fault makes no sense
 * @throws Error of the system, with its `code`, when a port is taken or a folder cannot be opened
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  if (options.mode === "endpoint") {
    const endpoints = endpointsFrom(options.environment);
    return assemble(endpoints, endpoints, async () => {});
  }
  const unlock = await lock(options.folder);
  try {
    const { shown, direct, sqs, stop } = await startEmbedded(options);
    const stopAndUnlock = () => stop().finally(unlock);
    return { ...assemble(shown, direct, stopAndUnlock), embedded: sqs };
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

interface Embedded {
  /** For other programs: by way of the faults, if there are any. */
  readonly shown: AwsEndpoints;
  readonly direct: AwsEndpoints;
  readonly sqs: EmbeddedSqs;
  readonly stop: () => Promise<void>;
}

async function startEmbedded(options: EmbeddedAwsOptions): Promise<Embedded> {
  const { clock = systemClock, folder, onSqsRequest, faults } = options;
  const { sqsPort = 0, dynamodbPort = 0 } = options;
  const started: { close(): Promise<void> }[] = [];
  const keep = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    started.unshift(part);
    return part;
  };
  const stop = async () => {
    for (const part of started) await part.close();
  };
  try {
    const sqs = keep(
      await startEmbeddedSqs({
        clock,
        port: faults === undefined ? sqsPort : 0,
        ...(onSqsRequest === undefined ? {} : { onRequest: onSqsRequest }),
        ...(folder === undefined ? {} : { folder: join(folder, "sqs") }),
      }),
    );
    const dynamodb = keep(
      await startEmbeddedDynamodb({
        clock,
        port: faults === undefined ? dynamodbPort : 0,
        ...(folder === undefined ? {} : { folder: join(folder, "dynamodb") }),
      }),
    );
    const direct = embeddedEndpoints(sqs.endpoint, dynamodb.endpoint);
    if (faults === undefined) return { shown: direct, direct, sqs, stop };
    const before = async (target: string, port: number) =>
      keep(await startFaultProxy({ target, port, plan: faults, clock })).endpoint;
    const sqsEndpoint = await before(sqs.endpoint, sqsPort);
    const dynamodbEndpoint = await before(dynamodb.endpoint, dynamodbPort);
    return { shown: embeddedEndpoints(sqsEndpoint, dynamodbEndpoint), direct, sqs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function assemble(
  endpoints: AwsEndpoints,
  direct: AwsEndpoints,
  stop: () => Promise<unknown>,
): LocalAws {
  const clients = connect(direct);
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
