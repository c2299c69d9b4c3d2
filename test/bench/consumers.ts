/** Leasehold, its peers and a bare loop, each as a program would use it: one handler a message. */

import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { type ContractInput, createService, defineContract, defineJob } from "leasehold";
import { Consumer } from "sqs-consumer";
import { Squiss } from "squiss-ts";
import { z } from "zod";
import type { BenchQueue } from "./bench-queue.ts";

/** What one message costs a handler. */
export type Work = () => Promise<void>;

/** How a consumer is to work. */
export interface ConsumerSetup {
  readonly concurrency: number;
  readonly visibilityTimeoutMs: number;
  readonly extendEveryMs: number;
  readonly work: Work;
}

/** Something that works messages until it is stopped. */
export interface RunningConsumer {
  stop(): Promise<void>;
}

/** One way to work a queue. */
export interface BenchConsumer {
  readonly library: string;
  start(queue: BenchQueue, setup: ConsumerSetup): Promise<RunningConsumer>;
}

/** The most that one ReceiveMessage brings. */
const PEER_BATCH = 10;

const leasehold: BenchConsumer = {
  library: "leasehold",
  start: async ({ name, aws }, { concurrency, visibilityTimeoutMs, extendEveryMs, work }) => {
    const input: ContractInput = {
      preset: "default-30",
      service: "bench",
      queues: [{ name, waitMs: 2_000, deadLetter: { name: `${name}-dead` } }],
      worker: { concurrency },
      lease: { visibilityTimeoutMs, extendEveryMs, callTimeoutMs: 1_000 },
      ledger: { kind: "none" },
    };
    const job = defineJob({
      type: "bench.job",
      schema: z.object({ n: z.number() }),
      handler: work,
    });
    const service = createService({
      contract: defineContract(input),
      jobs: [job],
      sqs: connectionTo(aws.sqsEndpoint),
    });
    await service.worker.start();
    return {
      stop: async () => {
        await service.worker.drain({ kind: "request", by: "bench" });
        service.close();
      },
    };
  },
};

/** A consumer works one batch at a time, so as many are started as make up the concurrency. */
function sqsConsumer(library: string, batchSize: number): BenchConsumer {
  return {
    library,
    start: async ({ url, aws }, { concurrency, visibilityTimeoutMs, extendEveryMs, work }) => {
      const consumers = Array.from({ length: concurrency / batchSize }, () =>
        Consumer.create({
          queueUrl: url,
          sqs: aws.sqs,
          useQueueUrlAsEndpoint: false,
          batchSize,
          waitTimeSeconds: 2,
          visibilityTimeout: visibilityTimeoutMs / 1_000,
          heartbeatInterval: extendEveryMs / 1_000,
          handleMessage: async (message) => {
            await work();
            return message;
          },
        }),
      );
      for (const consumer of consumers) {
        consumer.on("error", () => undefined);
        consumer.start();
      }
      return {
        stop: async () => consumers.forEach((consumer) => void consumer.stop({ abort: true })),
      };
    },
  };
}

const squiss: BenchConsumer = {
  library: "squiss-ts",
  start: async ({ url, aws }, { concurrency, visibilityTimeoutMs, extendEveryMs, work }) => {
    const worker = new Squiss({
      queueUrl: url,
      correctQueueUrl: false,
      awsConfig: connectionTo(aws.sqsEndpoint),
      bodyFormat: "json",
      maxInFlight: concurrency,
      receiveBatchSize: PEER_BATCH,
      receiveWaitTimeSecs: 2,
      autoExtendTimeout: true,
      visibilityTimeoutSecs: visibilityTimeoutMs / 1_000,
      advancedCallMs: visibilityTimeoutMs - extendEveryMs,
    });
    worker.on("error", () => undefined);
    worker.on("message", (message) => void work().then(() => message.del()));
    await worker.start();
    return { stop: async () => void (await worker.stop(false, 1_000)) };
  },
};

function connectionTo(endpoint: string) {
  return {
    region: "us-east-1",
    endpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  };
}

/** What nobody can undercut with single handlers: ten in, ten out, then the next ten. */
const bareLoop: BenchConsumer = {
  library: "bare loop",
  start: async ({ url, aws }, { concurrency, work }) => {
    const stopping = new AbortController();
    const loop = async () => {
      while (!stopping.signal.aborted) {
        const receive = new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: PEER_BATCH,
          WaitTimeSeconds: 2,
        });
        const { Messages = [] } = await aws.sqs.send(receive, { abortSignal: stopping.signal });
        if (Messages.length === 0) continue;
        await Promise.all(Messages.map(() => work()));
        const Entries = Messages.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
        }));
        await aws.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      }
    };
    const loops = Array.from({ length: concurrency / PEER_BATCH }, () =>
      loop().catch(() => undefined),
    );
    return {
      stop: async () => {
        stopping.abort();
        await Promise.all(loops);
      },
    };
  },
};

/** Every consumer of a run, side by side. */
export const consumers: readonly BenchConsumer[] = [
  leasehold,
  sqsConsumer("sqs-consumer default", 1),
  sqsConsumer("sqs-consumer batchSize 10", PEER_BATCH),
  squiss,
  bareLoop,
];
