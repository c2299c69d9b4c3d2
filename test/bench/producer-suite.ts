/** What sending a job costs, and whether senders are told the truth, side by side. */

import { fork } from "node:child_process";
import { join } from "node:path";
import { CreateQueueCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { RequestAnswered, RequestObserver } from "@leasehold/embedded-sqs";
import { startFaultProxy, startLocalAws } from "@leasehold/local-aws";
import type { SendNews, SendOrders } from "./send-program.ts";
import { type BenchSender, senders, type Told } from "./senders.ts";
import { accountOf, sendingFaults } from "./sending-faults.ts";
import { judgeSentJobs, type SentJobs, type SentJobsVerdict } from "./sent-jobs.ts";

/** One way of sending at one rate of faults. */
export interface ProducerRow extends SentJobsVerdict {
  readonly library: string;
  /** The share of requests that something happens to. */
  readonly fault_rate: number;
  readonly jobs: number;
  /** As they left the process, whether or not they arrived. */
  readonly requests: number;
  readonly requests_per_job: number;
  /** Entries that failed alone, in a call that went well. */
  readonly failed_entries: number;
  /** The heap late in the run beside the heap early on. */
  readonly heap_growth: number;
  readonly jobs_per_second: number;
}

/** The result of the suite. */
export interface ProducerSuiteResult {
  readonly suite: "producer";
  readonly rows: readonly ProducerRow[];
}

/** How a sender is measured. */
export interface ProducerSetting {
  readonly jobs: number;
  readonly faultRate: number;
}

const JOBS = 100_000;
const QUICK_JOBS = 5_000;
const SINGLE_SHARE = 0.1;
const FAULT_RATES = [0, 0.1];

/** Runs every sender at every rate of faults; `tell` hears of each as it ends. */
export async function runProducer(
  { quick }: { readonly quick: boolean },
  tell: (line: string) => void,
): Promise<ProducerSuiteResult> {
  const rows: ProducerRow[] = [];
  for (const faultRate of FAULT_RATES) {
    for (const sender of senders) {
      const all = quick ? QUICK_JOBS : JOBS;
      const jobs = sender.isSingle === true ? all * SINGLE_SHARE : all;
      const row = await measureSender(sender, { jobs, faultRate });
      rows.push(row);
      tell(`${row.library}, faults ${faultRate}: ${row.requests_per_job} requests a job`);
    }
  }
  return { suite: "producer", rows };
}

/** One sender in a process of its own, on a queue of its own. */
export async function measureSender(
  sender: BenchSender,
  { jobs, faultRate }: ProducerSetting,
): Promise<ProducerRow> {
  const calls: string[][] = [];
  const hear: RequestObserver = (event) => {
    if (event.kind === "answered" && event.action === "SendMessageBatch")
      calls.push(sentIds(event));
  };
  const aws = await startLocalAws({ mode: "embedded", onSqsRequest: hear });
  try {
    const plan = sendingFaults(faultRate);
    await using proxy = await startFaultProxy({
      target: aws.sqsEndpoint,
      plan,
      logLimit: LOG_LIMIT,
    });
    const create = new CreateQueueCommand({ QueueName: "bench-jobs" });
    const { QueueUrl: queueUrl = "" } = await aws.sqs.send(create);
    const { library } = sender;
    const { told, ...sent } = await sendApart({
      library,
      jobs,
      endpoint: proxy.endpoint,
      queueUrl,
    });
    const messages = await receiveAll(aws.sqs, queueUrl);
    const { requests, failedEntries, lostAnswers } = accountOf(proxy);
    return {
      ...{ library, fault_rate: faultRate, jobs, requests },
      requests_per_job: rounded(requests / jobs),
      failed_entries: failedEntries,
      ...judgeSentJobs({ jobs, told, messages, calls, lostAnswers }),
      heap_growth: rounded((sent.heapBytes.get(LAST_TENTH) ?? 0) / (sent.heapBytes.get(3) ?? 0)),
      jobs_per_second: Math.round((jobs / sent.tookMs) * 1_000),
    };
  } finally {
    await aws.close();
  }
}

/** More than any run asks for. */
const LOG_LIMIT = 1_000_000;
const LAST_TENTH = 10;

function sentIds({ entries }: RequestAnswered): string[] {
  return entries.flatMap(({ messageId, outcome }) =>
    outcome === "sent" && messageId !== undefined ? [messageId] : [],
  );
}

interface Sent {
  readonly told: ReadonlyMap<number, Told>;
  readonly heapBytes: ReadonlyMap<number, number>;
  readonly tookMs: number;
}

function sendApart(orders: SendOrders): Promise<Sent> {
  const child = fork(join(import.meta.dirname, "send-program.ts"), {
    execArgv: ["--conditions=source", "--expose-gc"],
    env: { ...process.env, SEND_ORDERS: JSON.stringify(orders) },
  });
  const told = new Map<number, Told>();
  const heapBytes = new Map<number, number>();
  let tookMs = 0;
  child.on("message", (news: SendNews) => {
    if (news.kind === "told") for (const [job, one] of news.jobs) told.set(job, one);
    if (news.kind === "heap") heapBytes.set(news.tenth, news.bytes);
    if (news.kind === "ended") tookMs = news.tookMs;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve({ told, heapBytes, tookMs });
      else reject(new Error(`the process of ${orders.library} ended with ${code}`));
    });
  });
}

const READERS = 4;
const LONGEST_VISIBILITY_SECONDS = 43_200;

async function receiveAll(client: SQSClient, QueueUrl: string): Promise<SentJobs["messages"]> {
  const messages = new Map<number, string[]>();
  const read = async () => {
    for (;;) {
      const receive = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: LONGEST_VISIBILITY_SECONDS,
      });
      const { Messages: some = [] } = await client.send(receive);
      if (some.length === 0) return;
      for (const { Body = "", MessageId = "" } of some) {
        const job = jobOf(Body);
        messages.set(job, [...(messages.get(job) ?? []), MessageId]);
      }
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return messages;
}

function jobOf(body: string): number {
  return Number((JSON.parse(body).job_id as string).slice("job-".length));
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
