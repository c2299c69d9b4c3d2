/** The ECS agent's endpoint for task protection: one request, one typed answer. */

import { request } from "node:http";
import { text } from "node:stream/consumers";

/** What is asked of the agent. */
export interface ProtectionRequest {
  readonly enabled: boolean;
  /** How long protection lasts unless it is renewed; 1 to 2,880. */
  readonly minutes: number;
}

/** How it went. Never a rejection: protection is a courtesy, and no job may suffer from it. */
export type ProtectionAnswer =
  | {
      readonly kind: "done";
      /** As ECS says it; only with protection. */
      readonly expiresAt?: string;
    }
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly message: string;
      /** Nobody knows: the request may have reached ECS although no good answer came back. */
      readonly mayHaveTakenEffect: boolean;
    };

/** What the agent sends, as far as it is read. ECS, "Task scale-in protection endpoint". */
interface AgentBody {
  readonly protection?: { readonly ProtectionEnabled?: unknown; readonly ExpirationDate?: unknown };
  readonly failure?: { readonly Reason?: unknown; readonly Detail?: unknown };
  readonly error?: { readonly Code?: unknown; readonly Message?: unknown };
}

/** Without an address or a connection nothing was asked. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ERR_INVALID_PROTOCOL",
  "ERR_INVALID_URL",
]);

/**
 * Sets or clears the protection of this task.
 *
 * ECS refuses with HTTP 200 and a `failure`, and the agent refuses fields that it does not know:
 * what is sent here is all that it takes.
 *
 * @param agentUri - as ECS injects it into the container, `ECS_AGENT_URI`
 * @param signal - ends the call; its answer is then unknown
 */
export async function askEcsAgent(
  agentUri: string,
  { enabled, minutes }: ProtectionRequest,
  signal: AbortSignal,
): Promise<ProtectionAnswer> {
  const url = `${agentUri.replace(/\/+$/, "")}/task-protection/v1/state`;
  const fields = { ProtectionEnabled: enabled, ...(enabled ? { ExpiresInMinutes: minutes } : {}) };
  try {
    const { status, body } = await put(url, JSON.stringify(fields), signal);
    return readAnswer(status, body, enabled);
  } catch (error) {
    const code = signal.aborted ? "TIMEOUT" : codeOf(error);
    const message = signal.aborted ? "no answer in time" : messageOf(error);
    return { kind: "failed", code, message, mayHaveTakenEffect: !NEVER_SENT.has(code) };
  }
}

async function put(url: string, sent: string, signal: AbortSignal) {
  const answered = Promise.withResolvers<{ readonly status: number; readonly body: string }>();
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(sent) };
  // An agent of its own: no socket stays open, and no proxy of the environment is in between.
  const call = request(url, { method: "PUT", agent: false, headers, signal }, (response) => {
    text(response).then(
      (body) => answered.resolve({ status: response.statusCode ?? 0, body }),
      answered.reject,
    );
  });
  call.on("error", answered.reject);
  call.end(sent);
  return await answered.promise;
}

function readAnswer(status: number, text: string, enabled: boolean): ProtectionAnswer {
  const { protection, failure, error } = parse(text);
  if (status === 200 && protection?.ProtectionEnabled === enabled) {
    const { ExpirationDate: expiresAt } = protection;
    return { kind: "done", ...(enabled && typeof expiresAt === "string" ? { expiresAt } : {}) };
  }
  if (status === 200 && failure !== undefined) {
    const code = wordOf(failure.Reason) ?? "FAILURE";
    const message = wordOf(failure.Detail) ?? "ECS did not do it";
    return { kind: "failed", code, message, mayHaveTakenEffect: false };
  }
  const code = wordOf(error?.Code) ?? `HTTP_${status}`;
  const message = wordOf(error?.Message) ?? `the agent answered HTTP ${status}`;
  return { kind: "failed", code, message, mayHaveTakenEffect: !(status >= 400 && status < 500) };
}

/** Anything but an object says nothing. */
function parse(text: string): AgentBody {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // The status is told instead.
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return wordOf(code) ?? "UNREACHABLE";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
