/** Sends a target's sample jobs: a fixed number, or a steady trickle until stopped. */

import type { Clock } from "@leasehold/clock";
import type { Producer, SendResult } from "@leasehold/producer";
import type { LocalTarget, SampleJob } from "./local-target.ts";

/** What to send, and how. */
export interface JobFeedOptions {
  readonly target: Pick<LocalTarget, "sampleJobs">;
  readonly producer: Pick<Producer, "sendMany">;
  readonly clock: Clock;
  /** How many; a trickle when absent. */
  readonly jobs?: number;
  readonly seed: number;
  /** Jobs that are not done yet, whoever sent them: a trickle waits while they are many. */
  readonly countUnfinished: () => Promise<number>;
  readonly onSent: (count: number) => void;
  /** One sentence for each job that could not be sent. */
  readonly onFailed: (problem: string) => void;
}

const TRICKLE_EVERY_MS = 2_000;
const TRICKLE_JOBS = 6;
/** A worker that cannot keep up is not buried. */
const TRICKLE_BACKLOG = 60;
/** Sent together, so that a large number is not held in memory and a stop is heard. */
const CHUNK_JOBS = 100;

/** Sends until everything is sent or the signal aborts; resolves then. */
export async function feedJobs(options: JobFeedOptions, stop: AbortSignal): Promise<void> {
  if (options.jobs === undefined) return trickle(options, stop);
  let chunk: SampleJob[] = [];
  for (const job of options.target.sampleJobs({ count: options.jobs, seed: options.seed })) {
    if (stop.aborted) return;
    chunk.push(job);
    if (chunk.length < CHUNK_JOBS) continue;
    await send(options, chunk);
    chunk = [];
  }
  if (!stop.aborted) await send(options, chunk);
}

async function trickle(options: JobFeedOptions, stop: AbortSignal): Promise<void> {
  for (let round = 0; !stop.aborted; round += 1) {
    if ((await options.countUnfinished()) < TRICKLE_BACKLOG) {
      // Each round has a seed of its own, so that no two jobs of a session are the same.
      const seed = options.seed + round;
      await send(options, [...options.target.sampleJobs({ count: TRICKLE_JOBS, seed })]);
    }
    await options.clock.sleep(TRICKLE_EVERY_MS, stop);
  }
}

async function send(options: JobFeedOptions, jobs: readonly SampleJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const results = await options.producer.sendMany(jobs);
  options.onSent(results.filter(({ kind }) => kind === "sent").length);
  for (const [index, result] of results.entries()) {
    const problem = describeProblem(jobs[index], result);
    if (problem !== undefined) options.onFailed(problem);
  }
}

function describeProblem(job: SampleJob | undefined, result: SendResult): string | undefined {
  if (result.kind === "sent") return undefined;
  return `${job?.type} ${job?.tenantId}/${job?.jobId} was not sent: ${result.error.message}`;
}
