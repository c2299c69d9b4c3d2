/** The AWS JSON 1.0 protocol of SQS over HTTP: one request read, performed and answered. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { ACTIONS, type ActionInput, type ActionName } from "./actions.ts";
import { SqsError } from "./errors.ts";
import type { SqsAccount } from "./sqs-account.ts";
import { readRequest, writeAnswer } from "./wire-format.ts";

const CONTENT_TYPE = "application/x-amz-json-1.0";
const TARGET = /^AmazonSQS\.(\w+)$/;
/** A megabyte of message can take six of JSON, when every character is escaped. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Where a request ends and what came out of it. */
interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers one request. Never rejects: whatever goes wrong is the answer.
 *
 * `GET /health` and `GET /stats` are not SQS: the first answers 200 when the endpoint is up, the
 * second gives the account's report, the server's own count of what happened to its messages.
 */
export async function answerRequest(
  account: SqsAccount,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reply = await perform(account, request, response).catch(describeError);
  // The client of a poll may have gone; what the poll took is lost on the way, as with SQS.
  if (response.destroyed) return;
  response.writeHead(reply.status, {
    "content-type": CONTENT_TYPE,
    "content-length": Buffer.byteLength(reply.body),
    ...reply.headers,
  });
  response.end(reply.body);
}

async function perform(
  account: SqsAccount,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Reply> {
  if (request.method === "GET") return own(account, request.url ?? "/");
  const action = readAction(request.headers["x-amz-target"]);
  const input = readRequest(await readBody(request)) as ActionInput<ActionName>;
  const { host } = request.headers;
  const output = await account.perform(action, input, {
    ...(host === undefined ? {} : { endpoint: `http://${host}` }),
    ...(action === "ReceiveMessage" ? { signal: hangUpOf(response) } : {}),
  });
  return { status: 200, body: writeAnswer(output) };
}

function own(account: SqsAccount, path: string): Reply {
  if (path === "/health") return { status: 200, body: JSON.stringify({ status: "ok" }) };
  if (path === "/stats") return { status: 200, body: JSON.stringify(account.report()) };
  return { status: 404, body: JSON.stringify({ message: `there is nothing at ${path}` }) };
}

function readAction(target: string | string[] | undefined): ActionName {
  const [, name = ""] = TARGET.exec(String(target)) ?? [];
  if (Object.hasOwn(ACTIONS, name)) return name as ActionName;
  throw new SqsError("UnknownOperationException", `There is no action for the target ${target}.`);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new SqsError("SerializationException", `a body has at most ${MAX_BODY_BYTES} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Aborts when the connection closes before the answer was written. */
function hangUpOf(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) hangUp.abort(new SqsError("ClientGone", "the client hung up"));
  });
  return hangUp.signal;
}

function describeError(error: unknown): Reply {
  const known =
    error instanceof SqsError ? error : new SqsError("InternalFailure", (error as Error).message);
  return {
    status: known.status,
    body: JSON.stringify({
      __type: `com.amazonaws.sqs#${known.errorName}`,
      message: known.message,
    }),
    headers: {
      "x-amzn-query-error": `${known.queryCode};${known.status < 500 ? "Sender" : "Receiver"}`,
    },
  };
}
