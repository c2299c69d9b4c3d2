/** The job ledger beside Powertools idempotency: requests, time, and how often an effect runs. */

import { countRequests, type GuardCosts } from "./guard-costs.ts";
import { type GuardScenario, guardScenarios } from "./guard-scenarios.ts";
import { type GuardFigures, GuardStage } from "./guard-stage.ts";
import { openGuardTables } from "./guard-tables.ts";
import { type GuardTiming, type GuardTimingSetting, timeGuards } from "./guard-timing.ts";
import { guards } from "./guards.ts";
import { isInTime } from "./idempotency-bounds.ts";

/** One guard in one scenario. */
export type GuardRow =
  | ({ readonly scenario: string; readonly library: string } & GuardFigures)
  | { readonly scenario: string; readonly library: string; readonly not_run: string };

/** The result of the suite. */
export interface IdempotencyResult {
  readonly suite: "idempotency";
  readonly rows: readonly GuardRow[];
  readonly costs: readonly GuardCosts[];
  /** One measurement, and a second one when the first was too slow. */
  readonly timings: readonly GuardTiming[];
}

/** Many short runs: what disturbs the machine for a while then falls on both of a pair alike. */
const TIMING: GuardTimingSetting = { pairs: 41, jobsPerRun: 40 };
const QUICK_TIMING: GuardTimingSetting = { pairs: 9, jobsPerRun: 20 };
const COUNTED_JOBS = 100;
const QUICK_COUNTED_JOBS = 10;
const MOST_MEASUREMENTS = 2;

/** A few seconds' worth of the scenarios. */
export const QUICK_SCENARIOS: readonly string[] = [
  "throw after the effect",
  "own write retried",
  "rejected run",
];

/** Runs all of it; `tell` hears of each part as it ends. */
export async function runIdempotency(
  { quick }: { readonly quick: boolean },
  tell: (line: string) => void,
): Promise<IdempotencyResult> {
  // First, while nothing else runs beside it.
  const timings = await measureTime(quick ? QUICK_TIMING : TIMING, tell);
  const costs = await countAll(quick ? QUICK_COUNTED_JOBS : COUNTED_JOBS);
  const rows: GuardRow[] = [];
  for (const scenario of guardScenarios) {
    if (quick && !QUICK_SCENARIOS.includes(scenario.name)) continue;
    rows.push(...(await playAll(scenario)));
    tell(`idempotency: ${scenario.name}`);
  }
  return { suite: "idempotency", rows, costs, timings };
}

async function measureTime(
  setting: GuardTimingSetting,
  tell: (line: string) => void,
): Promise<readonly GuardTiming[]> {
  const timings: GuardTiming[] = [];
  while (timings.length < MOST_MEASUREMENTS) {
    // Jobs that another measurement has left done would be duplicates, which cost something else.
    await using tables = await openGuardTables();
    const timing = await timeGuards(tables, setting);
    timings.push(timing);
    const { median_difference_pct } = timing;
    tell(
      `idempotency: ${setting.pairs} pairs of runs, median difference ${median_difference_pct} %`,
    );
    if (isInTime(timing)) break;
  }
  return timings;
}

async function countAll(jobs: number): Promise<readonly GuardCosts[]> {
  const costs: GuardCosts[] = [];
  for (const library of Object.keys(guards)) {
    await using tables = await openGuardTables();
    costs.push(await countRequests(tables, library, jobs));
  }
  return costs;
}

/** A scenario with every guard, or those that are named, side by side. */
export async function playAll(
  scenario: GuardScenario,
  libraries: readonly string[] = Object.keys(guards),
): Promise<readonly GuardRow[]> {
  return await Promise.all(libraries.map((library) => play(scenario, library)));
}

async function play(scenario: GuardScenario, library: string): Promise<GuardRow> {
  const { name, tellsRemainingTime = true, notFor = {} } = scenario;
  const reason = notFor[library];
  if (reason !== undefined) return { scenario: name, library, not_run: reason };
  await using stage = await GuardStage.open({ library, tellsRemainingTime });
  await scenario.play(stage);
  return { scenario: name, library, ...stage.figures() };
}
