/** A service whose handlers do what the job says: obey, return quietly, insist, go deaf, or block. */

import type { DeploymentContract } from "@leasehold/deployment-contract";
import { defineJob, type JobContext, runWorkerProcess } from "leasehold";
import { z } from "zod";

const work = z.object({
  do: z.enum(["work", "return-quietly", "say-done", "ignore-abort", "block", "block-in-drain"]),
  forMs: z.number(),
});

/** Real time: this program runs as a process of its own, and its jobs must take a while. */
function pass(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, durationMs);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Keeps the event loop from turning, as a long computation does; spares the machine the work. */
function block(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

async function perform({ do: how, forMs }: z.infer<typeof work>, context: JobContext) {
  if (how === "ignore-abort") return pass(forMs);
  if (how === "block") {
    await pass(200); // So that the log tells of the start.
    return context.receiveCount === 1 ? block(forMs) : undefined;
  }
  if (how === "block-in-drain") {
    await pass(forMs, context.draining);
    return block(forMs);
  }
  await pass(forMs, context.signal);
  if (how === "return-quietly") return undefined;
  if (how === "say-done") return context.done("done");
  context.signal.throwIfAborted();
  return undefined;
}

await runWorkerProcess(() => ({
  contract: JSON.parse(process.env["TRIAL_CONTRACT"] ?? "") as DeploymentContract,
  jobs: [
    defineJob({
      type: "trial.work",
      schema: work,
      handler: (job, context) => perform(job.payload, context),
    }),
  ],
  sqs: {
    region: process.env["AWS_REGION"] ?? "",
    endpoint: process.env["AWS_ENDPOINT_URL_SQS"] ?? "",
  },
  extender: process.env["TRIAL_EXTENDER"] === "thread" ? "thread" : "inline",
  admin: { port: 0 },
  log: { level: "debug" },
}));
