/** A proxy that asks its owner about each request: pass it on, hold it or its answer, or drop it. */

import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** One request, in the hands of whoever owns the proxy. It takes effect when it is forwarded. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Resolves when the client has its answer, has given up, or is dead. */
  readonly over: Promise<void>;
  /**
   * Has it take effect at the target, whether or not anybody still waits for the answer.
   * @param without - names of headers that are left out, in lower case
   */
  forward(without?: readonly string[]): Promise<Answer>;
  /** Tells the client; nothing happens when it has gone. */
  reply(answer: Pick<Answer, "status" | "body"> & Partial<Answer>): void;
  /** Cuts the connection. */
  drop(): void;
}

/** Decides about a request; what it throws cuts the connection. */
export type Meet = (exchange: Exchange) => Promise<void>;

/** A running proxy. */
export interface HoldProxy extends AsyncDisposable {
  readonly endpoint: string;
}

/** Longer than clients keep an idle connection, so that no request meets one that is closing. */
const KEEP_ALIVE_MS = 120_000;
/** Belong to one connection, and are made anew for the next. */
const HOP_HEADERS = ["connection", "keep-alive", "transfer-encoding", "content-length"];

/** Starts a proxy on a free port of this machine. */
export async function startHoldProxy(target: string, meet: Meet): Promise<HoldProxy> {
  const server = createServer((incoming, response) => void serve(incoming, response));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    try {
      await meet(new HeldExchange(incoming, response, await readAll(incoming), new URL(target)));
    } catch {
      incoming.socket.destroy(); // the target or the client has gone: there is nobody to tell
    }
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => stop(server),
  };
}

class HeldExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly over: Promise<void>;
  readonly body: Buffer;
  readonly #response: ServerResponse;
  readonly #target: URL;

  constructor(incoming: IncomingMessage, response: ServerResponse, body: Buffer, target: URL) {
    this.method = incoming.method ?? "";
    this.path = incoming.url ?? "";
    this.headers = incoming.headers;
    this.body = body;
    this.#response = response;
    this.#target = target;
    this.over = new Promise((resolve) => void response.once("close", () => resolve()));
  }

  async forward(without: readonly string[] = []): Promise<Answer> {
    const { hostname, port } = this.#target;
    const left = Object.entries(this.headers).filter(
      ([name]) => !HOP_HEADERS.includes(name) && !without.includes(name),
    );
    const headers = { ...Object.fromEntries(left), "content-length": this.body.length };
    const place = { hostname, port, agent: false, method: this.method, path: this.path };
    const onward = request({ ...place, headers });
    onward.end(this.body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const { statusCode: status = 502, headers: told } = answer;
    return { status, headers: told, body: await readAll(answer) };
  }

  reply({ status, headers = {}, body }: Parameters<Exchange["reply"]>[0]): void {
    if (this.#response.destroyed) return;
    const kept = Object.entries(headers).filter(([name]) => !HOP_HEADERS.includes(name));
    const length = { "content-length": body.length };
    this.#response.writeHead(status, { ...Object.fromEntries(kept), ...length }).end(body);
  }

  drop(): void {
    this.#response.destroy();
  }
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
