/** What most scenarios begin and end with. */

import type { DrillStage } from "./drill-stage.ts";
import type { DrillWork } from "./drill-target.ts";
import type { DrillWorker } from "./drill-worker.ts";

/** Longer than any drain: it must be given back, and is short for whoever has it then. */
export const LONG: DrillWork = { do: "work", forMs: 300_000, thenMs: 100 };

/** Starts the first worker, sends jobs, and waits until it is at one of them. */
export async function firstAtWork(stage: DrillStage, jobs: number = 1): Promise<DrillWorker> {
  const first = await stage.start("first");
  await stage.send(jobs);
  await first.started(1);
  return first;
}

/** Waits until the second worker has started what was left to it, and until all of it is done. */
export async function finishWith(
  stage: DrillStage,
  second: DrillWorker,
  jobs: number = 1,
): Promise<void> {
  await second.started(jobs);
  await stage.quiet();
  await stage.stop(second);
}

/** Starts the second worker once the first one has gone, and lets it finish. */
export async function takeOver(stage: DrillStage): Promise<void> {
  await finishWith(stage, await stage.start("second"));
}
