/** A process that sends by one library and reports what it was told, and how its heap fares. */

import { SQSClient } from "@aws-sdk/client-sqs";
import { type BenchSender, senders, type Told } from "./senders.ts";

/** What the process is to do, in its environment. */
export interface SendOrders {
  readonly library: string;
  readonly jobs: number;
  readonly endpoint: string;
  readonly queueUrl: string;
}

/** What it says to its parent. */
export type SendNews =
  | { readonly kind: "told"; readonly jobs: readonly (readonly [job: number, told: Told])[] }
  /** In the middle of each tenth of the jobs, after garbage collection. */
  | { readonly kind: "heap"; readonly tenth: number; readonly bytes: number }
  | { readonly kind: "ended"; readonly tookMs: number };

const REPORT_JOBS = 1_000;

async function run({ library, jobs, endpoint, queueUrl }: SendOrders): Promise<void> {
  const sender = senders.find((one) => one.library === library) as BenchSender;
  const client = new SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    // Many callers of the peer wait for a socket; the SDK need not say so every time.
    requestHandler: { socketAcquisitionWarningTimeout: 600_000 },
    // Leasehold tries again by itself; the peer leaves that to the SDK, which does so twice.
    ...(library.startsWith("leasehold") ? { maxAttempts: 1 } : {}),
  });
  // Nothing of the results stays here: the heap is the library's alone.
  let told: (readonly [number, Told])[] = [];
  let ended = 0;
  const startedAtMs = performance.now();
  await sender.send({ client, queueUrl }, jobs, (job, kind) => {
    told.push([job, kind]);
    ended += 1;
    if (told.length === REPORT_JOBS) {
      say({ kind: "told", jobs: told });
      told = [];
    }
    const tenths = (ended * 10) / jobs - 0.5;
    if (Number.isInteger(tenths)) say({ kind: "heap", tenth: tenths + 1, bytes: heapBytes() });
  });
  const tookMs = performance.now() - startedAtMs;
  say({ kind: "told", jobs: told });
  client.destroy();
  process.send?.({ kind: "ended", tookMs } satisfies SendNews, () => process.disconnect());
}

function say(news: SendNews): void {
  process.send?.(news);
}

function heapBytes(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const { SEND_ORDERS: orders } = process.env;
if (orders !== undefined) await run(JSON.parse(orders) as SendOrders);
