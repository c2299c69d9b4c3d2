/** How long a guarded job takes with either guard, in alternating runs, and how the two differ. */

import type { GuardTables } from "./guard-tables.ts";
import { type Guard, guards } from "./guards.ts";
import { percentile } from "./requests-suite.ts";

/** Two runs of either guard, of equally many jobs, in turns; times of a job on average. */
export interface TimedPair {
  readonly leasehold_ms: number;
  readonly powertools_ms: number;
  /** By how much ours takes longer, in percent of theirs. */
  readonly difference_pct: number;
}

/** What one measurement came to. */
export interface GuardTiming {
  readonly pairs: readonly TimedPair[];
  readonly jobs_per_run: number;
  readonly leasehold_p50_ms: number;
  readonly leasehold_p99_ms: number;
  readonly powertools_p50_ms: number;
  readonly powertools_p99_ms: number;
  readonly median_difference_pct: number;
  readonly lowest_difference_pct: number;
  readonly highest_difference_pct: number;
}

/** How it is measured. */
export interface GuardTimingSetting {
  readonly pairs: number;
  readonly jobsPerRun: number;
}

const WARM_UP_RUNS = 150;

/**
 * Alternates between the two on the same store; the first runs of each are not counted.
 *
 * @throws Error when a job was not guarded but found done: each needs tables of its own
 */
export async function timeGuards(
  tables: GuardTables,
  { pairs, jobsPerRun }: GuardTimingSetting,
): Promise<GuardTiming> {
  const open = (library: string) => new TimedGuard(library, tables);
  using ours = open("leasehold park");
  using theirs = open("powertools");
  const timed: TimedPair[] = [];
  for (let nth = 0; nth < WARM_UP_RUNS + pairs; nth += 1) {
    if (nth === WARM_UP_RUNS) for (const guard of [ours, theirs]) guard.forget();
    // In the order of a palindrome, so that neither what the other left behind nor a drift of the
    // machine falls on one of them.
    const [one, other] = nth % 2 === 0 ? [ours, theirs] : [theirs, ours];
    for (const guard of [one, other, other, one]) await guard.run(jobsPerRun);
    if (nth >= WARM_UP_RUNS) timed.push(pairOf(ours.lastRunsMs, theirs.lastRunsMs));
  }
  const latency = (guard: TimedGuard, share: number) => rounded(percentile(guard.tookMs, share));
  return {
    ...summaryOf(timed),
    jobs_per_run: jobsPerRun,
    leasehold_p50_ms: latency(ours, 0.5),
    leasehold_p99_ms: latency(ours, 0.99),
    powertools_p50_ms: latency(theirs, 0.5),
    powertools_p99_ms: latency(theirs, 0.99),
  };
}

/** A pair of runs. */
export function pairOf(leaseholdMs: number, powertoolsMs: number): TimedPair {
  const difference = (leaseholdMs - powertoolsMs) / powertoolsMs;
  return {
    leasehold_ms: rounded(leaseholdMs),
    powertools_ms: rounded(powertoolsMs),
    difference_pct: rounded(100 * difference),
  };
}

/** The pairs with their middle and their ends. */
export function summaryOf(pairs: readonly TimedPair[]) {
  const differences = pairs.map((pair) => pair.difference_pct).toSorted((one, two) => one - two);
  const middle = differences.length / 2;
  const [low = 0, high = low] = [
    differences[Math.ceil(middle) - 1],
    differences[Math.floor(middle)],
  ];
  return {
    pairs,
    median_difference_pct: rounded((low + high) / 2),
    lowest_difference_pct: differences[0] ?? 0,
    highest_difference_pct: differences.at(-1) ?? 0,
  };
}

class TimedGuard implements Disposable {
  readonly #library: string;
  readonly #guard: Guard;
  #jobs = 0;
  #charges = 0;
  /** Of each job. */
  tookMs: number[] = [];
  #runsMs: readonly [number, number] = [0, 0];

  constructor(library: string, { endpoint, names }: GuardTables) {
    // The effect itself takes no time, so that nothing hides what its guard costs.
    const charge = async () => {
      this.#charges += 1;
      return { id: "ch_1" };
    };
    const provider = { charge, find: async () => undefined };
    const parts = { endpoint, tables: names, provider, leaseMs: 60_000 };
    this.#library = library;
    this.#guard = guards[library]?.(parts) as Guard;
  }

  async run(jobs: number): Promise<void> {
    const startedAtMs = performance.now();
    for (let job = 0; job < jobs; job += 1) await this.#one();
    this.#runsMs = [this.#runsMs[1], (performance.now() - startedAtMs) / jobs];
  }

  /** What a job of the last two runs took on average. */
  get lastRunsMs(): number {
    return (this.#runsMs[0] + this.#runsMs[1]) / 2;
  }

  forget(): void {
    this.tookMs = [];
  }

  [Symbol.dispose](): void {
    this.#guard[Symbol.dispose]();
  }

  async #one(): Promise<void> {
    this.#jobs += 1;
    const startedAtMs = performance.now();
    const jobId = `timed-${process.pid}-${this.#jobs}`;
    const answer = await this.#guard.deliver({ jobId, messageId: `m-${jobId}`, receiveCount: 1 });
    this.tookMs.push(performance.now() - startedAtMs);
    if (answer.kind !== "acked") throw new Error(`${this.#library} ended with ${answer.kind}`);
    if (this.#charges !== this.#jobs) throw new Error(`${this.#library} found ${jobId} done`);
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
