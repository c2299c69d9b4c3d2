/** The wire between one program and SQS, which can hold a request back or refuse it. */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it comes by. */
export interface WireRequest {
  readonly action: string;
  /** Whether it makes a message's visibility timeout longer; a release is none. */
  readonly isExtension: boolean;
  /** How many of its kind (extensions, all others) came by before it. */
  readonly earlier: number;
}

/** What happens to a request: it passes, passes later, or is answered with 503 and never arrives. */
export type WireRule = (request: WireRequest) => "pass" | "refuse" | { readonly holdMs: number };

/** A proxy in front of one endpoint. */
export interface TappedWire extends AsyncDisposable {
  readonly endpoint: string;
  /** Resolves when the first request is held back, now or before. */
  readonly held: Promise<void>;
  /** Resolves when nothing is held back any more and all that left has arrived. */
  delivered(): Promise<void>;
}

/** Starts a proxy on a free port of this machine. */
export async function tapWire(target: string, rule: WireRule): Promise<TappedWire> {
  const { hostname, port } = new URL(target);
  const held = Promise.withResolvers<void>();
  const seen = { extensions: 0, others: 0 };
  const late = new Set<Promise<void>>();
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(incoming);
    const verdict = rule(readRequest(incoming.headers, body, seen));
    if (verdict === "refuse") return void refuse(response);
    const onward = { hostname, port, incoming, body };
    if (verdict === "pass") return void forward(onward, response);
    held.resolve();
    // Also for a client that has gone meanwhile: what has left for SQS arrives there.
    const arrival = new Promise<void>((resolve) => setTimeout(resolve, verdict.holdMs)).then(() =>
      forward(onward, response),
    );
    late.add(arrival);
    void arrival.finally(() => late.delete(arrival));
  };
  const server = createServer((incoming, response) => void pass(incoming, response));
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: held.promise,
    delivered: async () => void (await Promise.all(late)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function readRequest(
  headers: IncomingHttpHeaders,
  body: Buffer,
  seen: { extensions: number; others: number },
): WireRequest {
  const action = String(headers["x-amz-target"] ?? "").replace(/^AmazonSQS\./, "");
  const isExtension = action.startsWith("ChangeMessageVisibility") && makesLonger(body);
  const earlier = isExtension ? seen.extensions++ : seen.others++;
  return { action, isExtension, earlier };
}

function makesLonger(body: Buffer): boolean {
  const input = JSON.parse(body.toString()) as {
    readonly VisibilityTimeout?: number;
    readonly Entries?: readonly { readonly VisibilityTimeout?: number }[];
  };
  const entries = input.Entries ?? [input];
  return entries.some(({ VisibilityTimeout = 0 }) => VisibilityTimeout > 0);
}

function refuse(response: ServerResponse): void {
  response.writeHead(503, { "content-type": "application/x-amz-json-1.0" });
  response.end(JSON.stringify({ __type: "ServiceUnavailable", message: "refused on the wire" }));
}

interface Forwarded {
  readonly hostname: string;
  readonly port: string;
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
}

/** Resolves when the answer has come, whether or not there is somebody to take it. */
function forward(
  { hostname, port, incoming, body }: Forwarded,
  response: ServerResponse,
): Promise<void> {
  const { method, url: path, headers } = incoming;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onward = request({ hostname, port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    resolve();
  });
  onward.on("error", () => {
    response.destroy();
    resolve();
  });
  onward.end(body);
  return promise;
}
