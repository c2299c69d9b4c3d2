/** What a job costs in SQS requests, side by side: Leasehold, its peers, and a bare loop. */

import { fillQueue } from "./bench-queue.ts";
import { type BenchConsumer, consumers } from "./consumers.ts";

/** One library at one setting. */
export interface RequestsRow {
  readonly library: string;
  /** On average. */
  readonly handler_ms: number;
  /** By which share of it handlers are shorter and longer; 0 for all alike. */
  readonly spread: number;
  readonly concurrency: number;
  readonly jobs: number;
  readonly receives: number;
  readonly deletes: number;
  readonly changes: number;
  readonly requests_per_job: number;
  readonly deletes_per_job: number;
  readonly jobs_per_second: number;
  /** From a slot's end to the next start in it, while jobs wait; 99th percentile. */
  readonly claim_delay_p99_ms: number;
}

/** What keeping leases alive costs. */
export interface ExtensionsRow {
  readonly library: string;
  readonly jobs: number;
  readonly periods: number;
  readonly extension_calls: number;
}

/** The result of the suite. */
export interface RequestsResult {
  readonly suite: "requests";
  readonly rows: readonly RequestsRow[];
  readonly extensions: readonly ExtensionsRow[];
}

/** How a library is measured. */
export interface RequestsSetting {
  readonly handlerMs: number;
  readonly spread?: number;
  readonly concurrency: number;
  readonly jobs: number;
}

const settings: readonly RequestsSetting[] = [
  { handlerMs: 0, concurrency: 20, jobs: 10_000 },
  { handlerMs: 0, concurrency: 100, jobs: 10_000 },
  { handlerMs: 50, concurrency: 20, jobs: 2_000 },
  { handlerMs: 50, concurrency: 100, jobs: 5_000 },
  { handlerMs: 1_000, concurrency: 20, jobs: 200 },
  { handlerMs: 1_000, concurrency: 100, jobs: 1_000 },
  { handlerMs: 50, spread: 0.5, concurrency: 20, jobs: 1_000 },
  { handlerMs: 1_000, spread: 0.5, concurrency: 20, jobs: 200 },
];

const QUICK_SHARE = 0.05;
const VISIBILITY_MS = 60_000;

/** Runs every setting with every library; `tell` hears of each as it ends. */
export async function runRequests(
  { quick }: { readonly quick: boolean },
  tell: (line: string) => void,
): Promise<RequestsResult> {
  const rows: RequestsRow[] = [];
  for (const setting of settings.filter(({ handlerMs }) => !quick || handlerMs < 1_000)) {
    const jobs = quick ? Math.ceil(setting.jobs * QUICK_SHARE) : setting.jobs;
    for (const consumer of consumers) {
      const row = await measure(consumer, { ...setting, jobs });
      rows.push(row);
      const uneven = row.spread > 0 ? " (uneven)" : "";
      tell(
        `${row.library}, ${row.handler_ms} ms${uneven} x ${row.concurrency}: ${row.requests_per_job} requests a job`,
      );
    }
  }
  const extensions: ExtensionsRow[] = [];
  for (const consumer of consumers.filter(({ library }) => library !== "bare loop")) {
    if (consumer.library === "sqs-consumer default") continue;
    const row = await measureExtensions(consumer, quick ? 20 : 100);
    extensions.push(row);
    tell(
      `${row.library}, ${row.jobs} jobs of ${row.periods} periods: ${row.extension_calls} extension calls`,
    );
  }
  return { suite: "requests", rows, extensions };
}

/** One library at one setting, on a queue of its own. */
export async function measure(
  consumer: BenchConsumer,
  { handlerMs, spread = 0, concurrency, jobs }: RequestsSetting,
): Promise<RequestsRow> {
  await using queue = await fillQueue(jobs, VISIBILITY_MS);
  const startedAtMs: number[] = [];
  const endedAtMs: number[] = [];
  const running = await consumer.start(queue, {
    concurrency,
    visibilityTimeoutMs: VISIBILITY_MS,
    extendEveryMs: VISIBILITY_MS / 3,
    work: async () => {
      const nth = startedAtMs.push(performance.now());
      if (handlerMs > 0) await pass(handlerMs * (1 + spread * unevenness(nth)));
      endedAtMs.push(performance.now());
    },
  });
  await queue.deleted(jobs);
  const { receives, deletes, changes } = queue.counts();
  await running.stop();
  const tookMs = (endedAtMs.at(-1) ?? 0) - (startedAtMs[0] ?? 0);
  return {
    library: consumer.library,
    handler_ms: handlerMs,
    spread,
    concurrency,
    jobs,
    ...{ receives, deletes, changes },
    requests_per_job: rounded((receives + deletes + changes) / jobs),
    deletes_per_job: rounded(deletes / jobs),
    jobs_per_second: Math.round((jobs / tookMs) * 1_000),
    claim_delay_p99_ms: rounded(percentile(slotDelays(startedAtMs, endedAtMs, concurrency), 0.99)),
  };
}

/** With C slots and jobs waiting, the (C+k)th start takes the slot of the kth end. */
export function slotDelays(
  startedAtMs: readonly number[],
  endedAtMs: readonly number[],
  concurrency: number,
): readonly number[] {
  const starts = startedAtMs.toSorted((one, other) => one - other);
  const ends = endedAtMs.toSorted((one, other) => one - other);
  return starts.slice(concurrency).map((start, k) => Math.max(0, start - (ends[k] ?? start)));
}

/** The smallest value that is at least as large as this share of all; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

const PERIODS = 6;
const EXTENSION_VISIBILITY_MS = 9_000;

async function measureExtensions(consumer: BenchConsumer, jobs: number): Promise<ExtensionsRow> {
  await using queue = await fillQueue(jobs, EXTENSION_VISIBILITY_MS);
  const extendEveryMs = EXTENSION_VISIBILITY_MS / 3;
  const running = await consumer.start(queue, {
    concurrency: jobs,
    visibilityTimeoutMs: EXTENSION_VISIBILITY_MS,
    extendEveryMs,
    work: () => pass(PERIODS * extendEveryMs + 200),
  });
  await queue.deleted(jobs);
  const { changes } = queue.counts();
  await running.stop();
  return { library: consumer.library, jobs, periods: PERIODS, extension_calls: changes };
}

/** From -1 to 1, evenly spread and the same in every run: steps of the golden ratio. */
function unevenness(nth: number): number {
  return 2 * ((nth * 0.618_033_988_75) % 1) - 1;
}

function pass(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
