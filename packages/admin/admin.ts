/** The HTTP server for operators and probes. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Worker } from "@leasehold/worker";
import { type Answer, json } from "./answer.ts";
import { type AdminOptions, resolveAdminOptions } from "./options.ts";
import { liveness, readiness } from "./probes.ts";
import { statusObject } from "./status.ts";

/** What the server asks, and where it listens. */
export interface AdminArguments extends AdminOptions {
  readonly worker: Pick<Worker, "snapshot">;
  /** The text of `/metrics`, in Prometheus's format; without it there is no such path. */
  readonly metrics?: () => string | Promise<string>;
}

/** A running server. It answers through the whole drain, until it is closed. */
export interface Admin {
  /** For example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops listening and ends every connection at once, kept-alive ones too. May be called twice. */
  close(): Promise<void>;
}

type Route = () => Answer | Promise<Answer>;

/**
 * Starts the server: `/livez`, `/readyz`, `/status` and, when there are metrics, `/metrics`.
 *
 * @throws InvalidOptionsError; whatever `listen` says when the address is taken
 */
export async function startAdmin(args: AdminArguments): Promise<Admin> {
  const { worker, metrics, ...options } = args;
  const { host, port } = resolveAdminOptions(options);
  const routes = new Map<string, Route>([
    ["/livez", () => liveness(worker.snapshot())],
    ["/readyz", () => readiness(worker.snapshot())],
    ["/status", () => json(200, statusObject(worker.snapshot()))],
  ]);
  if (metrics !== undefined) {
    const contentType = "text/plain; version=0.0.4; charset=utf-8";
    routes.set("/metrics", async () => ({ status: 200, contentType, body: await metrics() }));
  }
  const server = createServer((request, response) => void serve(routes, request, response));
  await listen(server, host, port);
  return { url: urlOf(server), close: () => close(server) };
}

async function serve(
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A body is of no use here, but must be read for the connection to be used again.
  request.resume();
  const answer = await answerTo(routes, request);
  const bytes = Buffer.from(answer.body);
  response.writeHead(answer.status, {
    "content-type": answer.contentType,
    "content-length": bytes.length,
    "cache-control": "no-store",
    ...(answer.status === 405 ? { allow: "GET, HEAD" } : {}),
  });
  response.end(bytes);
}

async function answerTo(
  routes: ReadonlyMap<string, Route>,
  { method, url = "" }: IncomingMessage,
): Promise<Answer> {
  const route = routes.get(url.split("?", 1)[0] ?? "");
  if (route === undefined) return json(404, { error: "not found", paths: [...routes.keys()] });
  if (method !== "GET" && method !== "HEAD") return json(405, { error: "only GET and HEAD" });
  try {
    return await route();
  } catch (error) {
    // Named only: the message of a foreign error may hold anything, and this port may be open.
    return json(500, { error: error instanceof Error ? error.name : "unknown" });
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Closing twice calls back with an error, which only says that it is closed.
  server.close(() => resolve());
  server.closeAllConnections();
  return promise;
}
