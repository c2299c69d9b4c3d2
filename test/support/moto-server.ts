/** Starts moto's server, an AWS in Python that many machines have, where it is installed. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** A running server. */
export interface MotoServer {
  readonly endpoint: string;
  close(): Promise<void>;
}

const TRIES = 150;
const BETWEEN_TRIES_MS = 200;

/** Whether `moto_server` can be started here. */
export function hasMotoServer(): boolean {
  return spawnSync("moto_server", ["--help"], { stdio: "ignore" }).status === 0;
}

/** Starts it on a free port of this machine. */
export async function startMotoServer(): Promise<MotoServer> {
  const port = await freePort();
  const child = spawn("moto_server", ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const ended = once(child, "exit");
  const endpoint = `http://127.0.0.1:${port}`;
  const close = async () => {
    child.kill();
    await ended;
  };
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (child.exitCode !== null) break;
    if (await answers(endpoint)) return { endpoint, close };
    await wait(BETWEEN_TRIES_MS);
  }
  child.kill();
  throw new Error(`moto_server does not answer at ${endpoint}`);
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    await (await fetch(endpoint)).arrayBuffer();
    return true;
  } catch {
    return false; // not yet
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
