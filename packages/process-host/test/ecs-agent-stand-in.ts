/** The task protection endpoint of the ECS agent, as the agent itself answers. For tests. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** How the next requests fare; `ok` is what the agent does with a good request. */
export type Mood =
  | "ok"
  /** ECS refuses: HTTP 200. */
  | "failure"
  /** The task's role may not. */
  | "denied"
  /** The agent's own call to ECS took more than its four seconds. */
  | "ecs-timeout"
  | "gibberish"
  | "hang"
  /** The head of an answer, and nothing more. */
  | "half"
  | "reset"
  /** The effect, and then a reset. */
  | "lost-answer";

const TASK_ARN = "arn:aws:ecs:eu-central-1:111122223333:task/billing/0a1b2c";
const PATH = "/api/0f9e8d-1234/task-protection/v1/state";
const EXPIRES_AT = "2026-01-01T01:02:03.456Z";

/** What the agent decodes; it refuses any other field. */
interface Decoded {
  readonly ProtectionEnabled?: unknown;
  readonly ExpiresInMinutes?: unknown;
}

/** Starts an agent that answers by its mood. */
export async function startEcsAgent() {
  const state = { isProtected: false, mood: "ok" as Mood, open: 0, mostOpen: 0 };
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    state.open += 1;
    state.mostOpen = Math.max(state.mostOpen, state.open);
    response.once("close", () => {
      state.open -= 1;
    });
    const body = await text(request);
    bodies.push(`${request.method} ${body}`);
    answer(request, body, response);
  });

  function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    if (state.mood === "hang") return;
    if (state.mood === "reset") return void request.socket.resetAndDestroy();
    if (state.mood === "half") return void response.writeHead(200).write('{"protection":{');
    if (state.mood === "gibberish") return void response.end("<html>");
    if (request.url !== PATH || request.method !== "PUT") return void response.writeHead(404).end();
    const { status, sent } = judge(body);
    if (state.mood === "lost-answer") return void request.socket.resetAndDestroy();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(sent));
  }

  function judge(body: string): { readonly status: number; readonly sent: object } {
    const { ProtectionEnabled, ExpiresInMinutes, ...others } = JSON.parse(body) as Decoded;
    if (Object.keys(others).length > 0 || !isAbsentOr("number", ExpiresInMinutes)) {
      return fault(400, "InvalidParameterException", "failed to decode request", "");
    }
    if (typeof ProtectionEnabled !== "boolean") {
      return fault(400, "InvalidParameterException", "does not contain 'ProtectionEnabled' field");
    }
    if (state.mood === "denied") {
      return fault(403, "AccessDeniedException", "not authorized to perform that");
    }
    if (state.mood === "ecs-timeout") {
      return fault(504, "RequestCanceled", "Timed out calling ECS Task Protection API");
    }
    if (state.mood === "failure") {
      const failure = { Arn: TASK_ARN, Detail: null, Reason: "TASK_NOT_VALID" };
      return { status: 200, sent: { failure } };
    }
    const minutes = ExpiresInMinutes ?? 120;
    if (ProtectionEnabled && !((minutes as number) >= 1 && (minutes as number) <= 2_880)) {
      return fault(400, "InvalidParameterException", "expiresInMinutes must be 1 to 2880");
    }
    state.isProtected = ProtectionEnabled;
    const expiry = ProtectionEnabled ? { ExpirationDate: EXPIRES_AT } : { ExpirationDate: null };
    const protection = { ...expiry, ProtectionEnabled, TaskArn: TASK_ARN };
    return { status: 200, sent: { protection } };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    uri: `http://127.0.0.1:${port}/api/0f9e8d-1234`,
    /** Method and body of every request, in order. */
    bodies,
    state,
    /** Resolves when this many requests have come. */
    async heard(count: number): Promise<void> {
      while (bodies.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function fault(status: number, Code: string, Message: string, Arn: string = TASK_ARN) {
  const error = { ...(Arn === "" ? {} : { Arn }), Code, Message };
  return { status, sent: { requestID: "b3f8", error } };
}

function isAbsentOr(type: string, value: unknown): boolean {
  return value === undefined || typeof value === type;
}
