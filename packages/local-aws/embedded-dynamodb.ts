/** DynamoDB inside this process, by dynalite. */

/// <reference path="./dynalite.d.ts" />

import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@leasehold/clock";
import dynalite from "dynalite";

/** How long `close` waits for requests that are being answered before it cuts them off. */
const CLOSE_PATIENCE_MS = 1_000;

const LOOPBACK = "127.0.0.1";

/** Where the store listens and what it keeps. */
export interface EmbeddedDynamodbOptions {
  readonly clock: Clock;
  /** Folder that keeps the tables; in memory when absent. One process at a time may have it. */
  readonly folder?: string;
  /** @defaultValue 0: any free port */
  readonly port?: number;
}

/** A running store, reachable from this machine only. */
export interface EmbeddedDynamodb {
  /** For example `http://127.0.0.1:40123`. */
  readonly endpoint: string;
  /** Stops listening and closes the folder. Calling it twice is the same as once. */
  close(): Promise<void>;
}

/**
 * Starts DynamoDB in this process.
 *
 * It answers as DynamoDB does for single items, conditions, queries and indexes. It has no
 * transactions, no time to live, and no item in the answer to a refused condition.
 *
 * @throws Error of the system, with its `code`, when the port is taken or the folder cannot be opened
 */
export async function startEmbeddedDynamodb({
  clock,
  folder,
  port = 0,
}: EmbeddedDynamodbOptions): Promise<EmbeddedDynamodb> {
  const server = dynalite({
    ...(folder === undefined ? {} : { path: folder }),
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
  });
  surviveBrokenRequests(server);
  await listen(server, port, clock);
  const { port: actualPort } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    endpoint: `http://127.0.0.1:${actualPort}`,
    close: () => {
      closing ??= close(server, clock);
      return closing;
    },
  };
}

async function listen(server: Server, port: number, clock: Clock): Promise<void> {
  try {
    server.listen(port, LOOPBACK);
    await once(server, "listening");
  } catch (error) {
    // dynalite closes its folder only with a server that listens.
    server.listen(0, LOOPBACK);
    await once(server, "listening");
    await close(server, clock);
    throw error;
  }
}

/**
 * dynalite throws when a client dies in the middle of a request, which would end this process
 * because a worker was killed; here such a request just ends.
 */
function surviveBrokenRequests(server: Server): void {
  const [handle] = server.listeners("request") as [
    (request: IncomingMessage, response: ServerResponse) => void,
  ];
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response);
    request.removeAllListeners("error");
    request.on("error", () => response.destroy());
  });
}

async function close(server: Server, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
  server.closeIdleConnections();
  const stopWaiting = clock.schedule(CLOSE_PATIENCE_MS, () => server.closeAllConnections());
  await closed.finally(stopWaiting);
}
