/** Compiles the programs of the drill once, so that its hundreds of processes start in half the time. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCommand, startWorkerProcess } from "@leasehold/drill";
import { COMMAND, SERVICE } from "./programs.ts";

/** A cache of compiled code. */
export interface WarmCache extends AsyncDisposable {
  /** For the environment of every process that is to use it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Processes that are killed never write the cache: one of each is run to its end here. */
export async function warmUp(): Promise<WarmCache> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-compiled-"));
  const environment = { NODE_COMPILE_CACHE: folder };
  await Promise.all([endService(environment), endCommand(environment)]);
  return {
    environment,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** There is no queue here; a signal ends a worker that is still looking for one. */
async function endService(environment: Readonly<Record<string, string>>): Promise<void> {
  const nowhere = "http://127.0.0.1:9";
  await using worker = startWorkerProcess(nodeCommand(SERVICE), {
    ...environment,
    ...{ AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "none", AWS_SECRET_ACCESS_KEY: "none" },
    ...{ AWS_ENDPOINT_URL_SQS: nowhere, AWS_ENDPOINT_URL_DYNAMODB: nowhere },
  });
  await worker.waitFor("claim.failed");
  worker.signal("SIGTERM");
  await worker.exited;
}

async function endCommand(environment: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, ["--conditions=source", COMMAND, "--version"], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: "ignore",
  });
  await once(child, "close");
}
