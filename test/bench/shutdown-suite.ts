/** Shutdown and its neighbours, side by side: each scenario with each library, judged at the server. */

import { type ShutdownScenario, shutdownScenarios } from "./shutdown-scenarios.ts";
import { readFigures, type TrialFigures } from "./trial-record.ts";
import { TrialStage } from "./trial-stage.ts";

/** The libraries of a run, ours first. */
export const LIBRARIES: readonly string[] = ["leasehold", "sqs-consumer", "squiss-ts"];

/** One library in one scenario. */
export type ShutdownRow =
  | ({ readonly scenario: string; readonly library: string } & TrialFigures)
  | { readonly scenario: string; readonly library: string; readonly not_run: string };

/** The result of the suite. */
export interface ShutdownResult {
  readonly suite: "shutdown";
  readonly rows: readonly ShutdownRow[];
}

/** Which part of the suite to run; all of it unless told. */
export interface ShutdownChoice {
  readonly libraries?: readonly string[];
  /** Names of scenarios. */
  readonly scenarios?: readonly string[];
}

/** A few seconds' worth of the suite. */
export const QUICK_SCENARIOS: readonly string[] = [
  "message arriving after stop",
  "abort with a finished job",
  "same message twice",
];

/** Scenarios that run at the same time; each is mostly waiting. */
const AT_ONCE = 2;

/** Plays every scenario; `tell` hears of each as it ends. */
export async function runShutdown(
  { libraries = LIBRARIES, scenarios }: ShutdownChoice,
  tell: (line: string) => void,
): Promise<ShutdownResult> {
  const chosen = shutdownScenarios.filter(({ name }) => scenarios?.includes(name) ?? true);
  const rows = new Array<readonly ShutdownRow[]>(chosen.length);
  const waiting = chosen.entries();
  const line = async () => {
    for (const [index, scenario] of waiting) {
      rows[index] = await Promise.all(libraries.map((library) => play(scenario, library)));
      tell(`shutdown: ${scenario.name}`);
    }
  };
  // The lines share one iterator: each takes the next scenario when its last one has ended.
  await Promise.all(Array.from({ length: AT_ONCE }, line));
  return { suite: "shutdown", rows: rows.flat() };
}

async function play(scenario: ShutdownScenario, library: string): Promise<ShutdownRow> {
  const { name, concurrency, fifo = false, wire = () => "pass" as const } = scenario;
  await using stage = await TrialStage.open({ library, concurrency, fifo, wire });
  const refusal = await stage.startWorker();
  if (refusal !== undefined) return { scenario: name, library, not_run: refusal };
  await scenario.play(stage);
  const exitedAtMs = await stage.exited();
  stage.startSuccessor();
  await stage.settled();
  const { contract, record, effects, jobOf } = stage;
  const figures = readFigures({
    ...{ requests: record.requests, effects, jobOf, exitedAtMs, isFifo: fifo },
    visibilityTimeoutMs: contract.lease.visibilityTimeoutMs,
    deadLetterQueue: contract.queues[0]?.deadLetter.name ?? "",
  });
  return { scenario: name, library, ...figures };
}
