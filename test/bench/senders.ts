/** Leasehold and sqs-producer, each as a program would send by it. */

import type { SQSClient } from "@aws-sdk/client-sqs";
import { systemClock } from "@leasehold/clock";
import { parseJobId, parseJobType, parseTenantId, writeEnvelope } from "@leasehold/job";
import { createProducer, type SendResult } from "@leasehold/producer";
import { Producer as SqsProducer } from "sqs-producer";

/** What a sender was told of one job. */
export type Told =
  /** It is on the queue, by this id if one was told. */
  | { readonly kind: "sent"; readonly messageId?: string }
  /** It is not on the queue. */
  | { readonly kind: "not-sent" }
  /** It may be on the queue, or the library does not say which job it speaks of. */
  | { readonly kind: "unknown" };

/** Hears of each job, once. */
export type Report = (job: number, told: Told) => void;

/** One way to send a number of jobs to a queue. */
export interface BenchSender {
  readonly library: string;
  /** Whether each job needs a request of its own, so that fewer of them are sent. */
  readonly isSingle?: boolean;
  send(
    queue: { readonly client: SQSClient; readonly queueUrl: string },
    jobs: number,
    report: Report,
  ): Promise<void>;
}

/** As many requests of a service are under way at once. */
const CALLERS = 400;
const CHUNK = 1_000;
/** So many that chance leaves no job behind: one call in ten goes wrong. */
const MAX_ATTEMPTS = 12;

const jobTo = (n: number) => ({
  type: "bench.job",
  tenantId: `tenant-${n % 7}`,
  jobId: `job-${n}`,
  payload: { n, note: "what a small job has to say, some hundred characters of text ".repeat(2) },
});

const buffered: BenchSender = {
  library: "leasehold send",
  send: async (queue, jobs, report) => {
    const options = { lingerMs: 5, maxAttempts: MAX_ATTEMPTS };
    const producer = createProducer({ ...queue, clock: systemClock, options });
    await byCallers(jobs, async (n) => {
      const { type, ...job } = jobTo(n);
      report(n, toldBy(await producer.send(type, job)));
    });
    await producer.close();
  },
};

const many: BenchSender = {
  library: "leasehold sendMany",
  send: async (queue, jobs, report) => {
    const options = { maxAttempts: MAX_ATTEMPTS };
    const producer = createProducer({ ...queue, clock: systemClock, options });
    await byChunks(jobs, async (numbers) => {
      const results = await producer.sendMany(numbers.map(jobTo));
      for (const [index, result] of results.entries()) report(numbers[index] ?? 0, toldBy(result));
    });
    await producer.close();
  },
};

function toldBy(result: SendResult): Told {
  if (result.kind === "sent") return { kind: "sent", messageId: result.messageId };
  return { kind: result.kind === "failed" && result.maybeSent ? "unknown" : "not-sent" };
}

const peerSingle: BenchSender = {
  library: "sqs-producer send",
  isSingle: true,
  send: async ({ client, queueUrl }, jobs, report) => {
    const producer = SqsProducer.create({ sqs: client, queueUrl });
    await byCallers(jobs, (n) => sendByPeer(producer, [n], report));
  },
};

const peerMany: BenchSender = {
  library: "sqs-producer send list",
  send: async ({ client, queueUrl }, jobs, report) => {
    const producer = SqsProducer.create({ sqs: client, queueUrl });
    await byChunks(jobs, (numbers) => sendByPeer(producer, numbers, report));
  },
};

/** It answers with what was sent, or throws: the ids that failed, or the error of a whole call. */
async function sendByPeer(
  producer: SqsProducer,
  numbers: readonly number[],
  report: Report,
): Promise<void> {
  try {
    const sent = await producer.send(numbers.map(messageTo));
    for (const { Id, MessageId = "" } of sent)
      report(Number(Id), { kind: "sent", messageId: MessageId });
  } catch (error) {
    const { failedMessages } = error as { readonly failedMessages?: readonly string[] };
    const failed = failedMessages && new Set(failedMessages);
    for (const n of numbers) {
      if (failed === undefined) report(n, { kind: "unknown" });
      else report(n, { kind: failed.has(String(n)) ? "not-sent" : "sent" });
    }
  }
}

function messageTo(n: number) {
  const { type, tenantId, jobId, payload } = jobTo(n);
  const { body } = writeEnvelope({
    jobType: parseJobType(type),
    tenantId: parseTenantId(tenantId),
    jobId: parseJobId(jobId),
    createdAtMs: 0,
    payload,
  });
  return { id: String(n), body, groupId: tenantId };
}

/** One job after the other by each of many callers, as the requests of a service come in. */
async function byCallers(jobs: number, send: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const call = async () => {
    while (next < jobs) {
      next += 1;
      await send(next - 1);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

async function byChunks(
  jobs: number,
  send: (numbers: readonly number[]) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < jobs; first += CHUNK) {
    const length = Math.min(CHUNK, jobs - first);
    await send(Array.from({ length }, (_, index) => first + index));
  }
}

/** Every sender of a run, side by side. */
export const senders: readonly BenchSender[] = [buffered, many, peerSingle, peerMany];
