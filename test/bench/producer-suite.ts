/** What sending a job costs, and whether senders are told the truth, side by side. */

import { fork } from "node:child_process";
import { join } from "node:path";
import { CreateQueueCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { startLocalAws } from "@leasehold/local-aws";
import type { SendNews, SendOrders } from "./send-program.ts";
import { type BenchSender, senders, type Told } from "./senders.ts";
import { type SendingFaults, sendingFaults } from "./sending-faults.ts";
import { tapWire } from "./tapped-wire.ts";

/** One way of sending at one rate of faults. */
export interface ProducerRow {
  readonly library: string;
  /** The share of requests that something happens to. */
  readonly fault_rate: number;
  readonly jobs: number;
  /** As they left the process, whether or not they arrived. */
  readonly requests: number;
  readonly requests_per_job: number;
  /** Entries that failed alone, in a call that went well. */
  readonly failed_entries: number;
  /** Jobs of which the queue has no message. */
  readonly missing: number;
  /** Messages beyond the first of each job. */
  readonly duplicates: number;
  /** Duplicates that no lost answer explains. */
  readonly needless_duplicates: number;
  /** Told as sent and not there by this id, or told as not sent and there. */
  readonly wrong_results: number;
  /** Jobs of which the sender was told nothing certain. */
  readonly untold: number;
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
  const faults = sendingFaults(faultRate);
  const aws = await startLocalAws({ mode: "embedded" });
  try {
    await using wire = await tapWire(aws.sqsEndpoint, faults.rule);
    const create = new CreateQueueCommand({ QueueName: "bench-jobs" });
    const { QueueUrl: queueUrl = "" } = await aws.sqs.send(create);
    const { library } = sender;
    const sent = await sendApart({ library, jobs, endpoint: wire.endpoint, queueUrl });
    const messages = await receiveAll(aws.sqs, queueUrl);
    return judged({ library, fault_rate: faultRate, jobs }, sent, messages, faults);
  } finally {
    await aws.close();
  }
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

/** The ids of the messages of each job, by its number. */
type Messages = ReadonlyMap<number, readonly string[]>;

const READERS = 4;
const LONGEST_VISIBILITY_SECONDS = 43_200;

async function receiveAll(client: SQSClient, QueueUrl: string): Promise<Messages> {
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

/** Compares what the sender was told with what the queue has. */
function judged(
  setting: Pick<ProducerRow, "library" | "fault_rate" | "jobs">,
  { told, heapBytes, tookMs }: Sent,
  messages: Messages,
  faults: SendingFaults,
): ProducerRow {
  const counts = { missing: 0, duplicates: 0, needless_duplicates: 0, wrong_results: 0, untold: 0 };
  for (let job = 0; job < setting.jobs; job += 1) {
    const there = messages.get(job) ?? [];
    const extra = Math.max(0, there.length - 1);
    const one = told.get(job) ?? { kind: "unknown" };
    if (there.length === 0) counts.missing += 1;
    counts.duplicates += extra;
    counts.needless_duplicates += Math.max(0, extra - faults.lostAnswers(`job-${job}`));
    if (one.kind === "unknown") counts.untold += 1;
    const isWrong =
      (one.kind === "sent" && !there.includes(one.messageId ?? there[0] ?? "")) ||
      (one.kind === "not-sent" && there.length > 0);
    if (isWrong) counts.wrong_results += 1;
  }
  return {
    ...setting,
    requests: faults.requests,
    requests_per_job: rounded(faults.requests / setting.jobs),
    failed_entries: faults.failedEntries,
    ...counts,
    heap_growth: rounded((heapBytes.get(10) ?? 0) / (heapBytes.get(3) ?? 0)),
    jobs_per_second: Math.round((setting.jobs / tookMs) * 1_000),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
