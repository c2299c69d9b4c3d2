/**
 * A worker process of one library on one queue, with the signal handling that its documentation
 * shows. SIGTERM stops it gently, SIGQUIT hard; both may take as long as the contract's drain.
 *
 * The peers are set up as a careful team would: ten in a batch, extended as often as Leasehold
 * extends, failures tried again after a second as with Leasehold, what a hard stop interrupts given
 * back at once, every error listened to.
 */

import { SQS, SQSClient } from "@aws-sdk/client-sqs";
import { type DeploymentContract, defineJob, runWorkerProcess } from "leasehold";
import { Consumer } from "sqs-consumer";
import { Squiss } from "squiss-ts";
import { z } from "zod";
import { perform, say, TRIAL_KINDS, type TrialOrders } from "./trial-work.ts";

const {
  TRIAL_LIBRARY: library = "",
  TRIAL_CONTRACT: contractText = "",
  TRIAL_ENDPOINT: endpoint = "",
  TRIAL_QUEUE_URL: queueUrl = "",
} = process.env;
const contract = JSON.parse(contractText) as DeploymentContract;
const connection = () => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
});
const { concurrency } = contract.worker;
const { waitMs = 0 } = contract.queues[0] ?? {};
const { visibilityTimeoutMs, extendEveryMs } = contract.lease;
const { drainMs } = contract.shutdown;
const batchSize = Math.min(10, concurrency);
const retrySeconds = contract.worker.backoffCapMs / 1_000;

/** How a program of a peer learns of its end. */
function onStop(stop: (isHard: boolean) => Promise<void>): AbortSignal {
  const hard = new AbortController();
  const leave = (isHard: boolean) => {
    say("stopping");
    if (isHard) hard.abort(new Error("the program stops"));
    void stop(isHard).then(() => process.exit(0));
  };
  process.on("SIGTERM", () => leave(false));
  process.on("SIGQUIT", () => leave(true));
  return hard.signal;
}

interface Envelope {
  readonly job_id: string;
  readonly payload: TrialOrders;
}

async function runLeasehold(): Promise<void> {
  process.on("SIGTERM", () => say("stopping"));
  process.on("SIGQUIT", () => say("stopping"));
  const schema = z.object({
    do: z.enum(TRIAL_KINDS),
    forMs: z.number(),
    insists: z.boolean(),
  });
  const job = defineJob({
    type: "trial.work",
    schema,
    handler: async ({ jobId, payload }, context) => {
      await perform(jobId, payload, context.signal);
      return context.done("done");
    },
  });
  const sqs = connection();
  await runWorkerProcess(() => ({ contract, jobs: [job], sqs, admin: false }));
}

async function runSqsConsumer(): Promise<void> {
  const sqs = new SQSClient(connection());
  const consumers = Array.from({ length: concurrency / batchSize }, () =>
    Consumer.create({
      queueUrl,
      sqs,
      batchSize,
      waitTimeSeconds: waitMs / 1_000,
      visibilityTimeout: visibilityTimeoutMs / 1_000,
      heartbeatInterval: extendEveryMs / 1_000,
      terminateVisibilityTimeout: () => (stopping.aborted ? 0 : retrySeconds),
      pollingCompleteWaitTimeMs: drainMs,
      suppressFifoWarning: true,
      handleMessage: async (message) => {
        const { job_id, payload } = JSON.parse(message.Body ?? "") as Envelope;
        await perform(job_id, payload, stopping);
        return message;
      },
    }),
  );
  const stopping = onStop(async (isHard) => {
    await Promise.all(
      consumers.map((consumer) => {
        const stopped = new Promise<void>((resolve) => {
          consumer.once("stopped", () => resolve());
        });
        consumer.stop({ abort: isHard });
        return stopped;
      }),
    );
  });
  for (const consumer of consumers) {
    consumer.on("error", () => undefined);
    consumer.on("processing_error", () => undefined);
    consumer.on("timeout_error", () => undefined);
    consumer.start();
  }
  say("ready");
}

async function runSquiss(): Promise<void> {
  const worker = new Squiss({
    queueUrl,
    correctQueueUrl: false,
    // biome-ignore lint/suspicious/noExplicitAny: its types were made for another copy of the SDK
    SQS: new SQS(connection()) as any,
    bodyFormat: "json",
    maxInFlight: concurrency,
    receiveBatchSize: batchSize,
    receiveWaitTimeSecs: waitMs / 1_000,
    autoExtendTimeout: true,
    visibilityTimeoutSecs: visibilityTimeoutMs / 1_000,
    advancedCallMs: visibilityTimeoutMs - extendEveryMs,
  });
  const stopping = onStop(async (isHard) => void (await worker.stop(!isHard, drainMs)));
  worker.on("error", () => undefined);
  worker.on("message", (message) => {
    const { job_id, payload } = message.body as Envelope;
    const giveBack = () => {
      if (stopping.aborted) return message.release();
      message.keep();
      return message.changeVisibility(retrySeconds);
    };
    perform(job_id, payload, stopping)
      .then(() => message.del(), giveBack)
      .catch(() => undefined);
  });
  await worker.start();
  say("ready");
}

const programs: Readonly<Record<string, () => Promise<void>>> = {
  leasehold: runLeasehold,
  "sqs-consumer": runSqsConsumer,
  "squiss-ts": runSquiss,
};

await programs[library]?.();
