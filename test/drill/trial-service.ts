/** A service whose handlers do what the job says: obey, return quietly, insist, go deaf, or block. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Clock, systemClock } from "@leasehold/clock";
import type { DeploymentContract } from "@leasehold/deployment-contract";
import { defineJob, type JobContext, runWorkerProcess } from "leasehold";
import { z } from "zod";

const work = z.object({
  do: z.enum([
    ...(["work", "return-quietly", "say-done", "ignore-abort", "block"] as const),
    ...(["block-in-drain", "end-in-drain", "checkpoint", "step-clock"] as const),
  ]),
  forMs: z.number(),
  /** From the second delivery on. */
  thenMs: z.number().optional(),
  stepMs: z.number().optional(),
});

/** The length of a step of a job that saves its progress. */
const STEP_MS = 500;
let steppedMs = 0;

/** The system's clock, whose wall can be set while the process runs. */
const steppedClock: Clock = {
  ...{
    monotonicMs: () => systemClock.monotonicMs(),
    wallMs: () => systemClock.wallMs() + steppedMs,
  },
  schedule: (...args) => systemClock.schedule(...args),
  sleep: (...args) => systemClock.sleep(...args),
};

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

/** Works in steps, and goes on from the last one that was saved. */
async function workInSteps(forMs: number, { checkpoint, signal }: JobContext): Promise<void> {
  let doneMs = Number(checkpoint.load() ?? 0);
  while (doneMs < forMs) {
    await pass(STEP_MS, signal);
    signal.throwIfAborted();
    doneMs += STEP_MS;
    await checkpoint.save(doneMs);
  }
}

async function perform(job: z.infer<typeof work>, context: JobContext) {
  const { do: how, forMs: firstMs, thenMs, stepMs = 0 } = job;
  const forMs = context.receiveCount === 1 ? firstMs : (thenMs ?? firstMs);
  if (how === "checkpoint") return workInSteps(firstMs, context);
  if (context.receiveCount === 1) steppedMs += stepMs;
  if (how === "ignore-abort") return pass(forMs);
  if (how === "block") {
    await pass(200); // So that the log tells of the start.
    return context.receiveCount === 1 ? block(forMs) : undefined;
  }
  if (how === "block-in-drain" && forMs > 0) {
    await pass(forMs, context.draining);
    return block(forMs);
  }
  if (how === "end-in-drain") {
    await pass(LONGEST_MS, context.draining);
    return pass(forMs);
  }
  await pass(forMs, context.signal);
  if (how === "return-quietly") return undefined;
  if (how === "say-done") return context.done("done");
  context.signal.throwIfAborted();
  return undefined;
}

const LONGEST_MS = 300_000;
const contract = JSON.parse(process.env["TRIAL_CONTRACT"] ?? "") as DeploymentContract;
const region = process.env["AWS_REGION"] ?? "";
const isGuarded = contract.ledger.kind === "dynamodb";

const clock = process.env["TRIAL_CLOCK"] === "stepped" ? { clock: steppedClock } : {};

const parts = () => ({
  contract,
  jobs: [
    defineJob({
      type: "trial.work",
      schema: work,
      ...(isGuarded && { checkpoints: true }),
      handler: (job, context) => perform(job.payload, context),
    }),
  ],
  sqs: { region, endpoint: process.env["AWS_ENDPOINT_URL_SQS"] ?? "" },
  ...(isGuarded && {
    ledger: {
      kind: "dynamodb" as const,
      client: new DynamoDBClient({ region }),
      environment: "trial",
    },
  }),
  extender: process.env["TRIAL_EXTENDER"] === "thread" ? ("thread" as const) : ("inline" as const),
  ...clock,
  admin: { port: 0 },
  log: { level: "debug" as const },
});

await runWorkerProcess(parts, clock);
