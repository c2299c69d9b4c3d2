/** Asks the liveness probe and exits: the container health check, as a program. */

import { get } from "node:http";
import { parseArgs } from "node:util";
import { DEFAULT_HOST, DEFAULT_PORT, MAX_PORT } from "./options.ts";

const USAGE = "usage: healthcheck [--host 127.0.0.1] [--port 8080] [--timeout-ms 2000]";
/** Below the five seconds that ECS and Docker give a health check by default. */
const DEFAULT_TIMEOUT_MS = 2_000;

interface Question {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** @throws TypeError for a flag that is unknown, RangeError for a value that makes no sense */
function readArguments(): Question {
  const { values } = parseArgs({
    options: {
      host: { type: "string", default: DEFAULT_HOST },
      port: { type: "string", default: String(DEFAULT_PORT) },
      "timeout-ms": { type: "string", default: String(DEFAULT_TIMEOUT_MS) },
    },
  });
  return {
    host: values.host,
    port: wholeNumber("--port", values.port, MAX_PORT),
    timeoutMs: wholeNumber("--timeout-ms", values["timeout-ms"], 60_000),
  };
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new RangeError(`${flag} must be a whole number between 1 and ${max}, got ${text}`);
}

/** What the probe answers: its status and text. */
function ask({ host, port, timeoutMs }: Question): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const signal = AbortSignal.timeout(timeoutMs);
  const request = get({ host, port, path: "/livez", agent: false, signal }, async (response) => {
    const chunks = await response.toArray().catch(reject);
    const text = Buffer.concat(chunks ?? []).toString();
    resolve({ status: response.statusCode ?? 0, text });
  });
  request.on("error", () => {
    const why = signal.aborted ? `no answer within ${timeoutMs} ms` : "no connection";
    reject(new Error(`${why} at ${host}:${port}`));
  });
  return promise;
}

try {
  const { status, text } = await ask(readArguments());
  if (status !== 200) {
    console.error(`not alive (${status}): ${text.trim()}`);
    process.exitCode = 1;
  }
} catch (error) {
  console.error(`${(error as Error).message}\n${USAGE}`);
  process.exitCode = 1;
}
