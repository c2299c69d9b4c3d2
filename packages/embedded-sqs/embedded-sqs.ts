/** SQS over HTTP inside this process: start, endpoint, stop. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@leasehold/clock";
import { answerRequest } from "./json-protocol.ts";
import type { AccountOptions } from "./options.ts";
import { SqsAccount } from "./sqs-account.ts";

/** Where the endpoint listens, and everything that may be chosen about its account. */
export interface EmbeddedSqsOptions extends Omit<AccountOptions, "endpoint"> {
  /** The time of the queues; with a manual clock a long poll waits until a test moves it. */
  readonly clock: Clock;
  /** @defaultValue 0: a free port */
  readonly port?: number;
  /** @defaultValue "127.0.0.1" */
  readonly host?: string;
}

/** A running endpoint. */
export interface EmbeddedSqs {
  /** For the SDK's `endpoint` option. */
  readonly endpoint: string;
  /** The queues behind it, for tests and reports. */
  readonly account: SqsAccount;
  /** Ends open polls with nothing, answers what is under way, and stops. May be called twice. */
  close(): Promise<void>;
}

/** Longer than clients keep an idle connection, so that no request meets one that is closing. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts SQS on this machine.
 *
 * @throws DamagedStateError when the folder cannot be read; whatever `listen` says when the port is taken
 * @example
 * ```ts
 * const sqs = await startEmbeddedSqs({ clock: systemClock });
 * const client = new SQSClient({ endpoint: sqs.endpoint, region: "us-east-1" });
 * ```
 */
export async function startEmbeddedSqs(options: EmbeddedSqsOptions): Promise<EmbeddedSqs> {
  const { clock, port = 0, host = "127.0.0.1", ...accountOptions } = options;
  const account = new SqsAccount(clock, accountOptions);
  const underWay = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answer = answerRequest(account, request, response);
    underWay.add(answer);
    void answer.finally(() => underWay.delete(answer));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  try {
    await listen(server, port, host);
  } catch (error) {
    account.close();
    throw error;
  }
  const { port: boundPort } = server.address() as AddressInfo;
  const shownHost = host.includes(":") ? `[${host}]` : host;
  let closing: Promise<void> | undefined;
  const close = async () => {
    account.close();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all(underWay);
    server.closeAllConnections();
    await closed;
  };
  return {
    endpoint: `http://${shownHost}:${boundPort}`,
    account,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}
