/** What Leasehold promises beside Powertools idempotency, judged from one run. Pure. */

import type { GuardScenario } from "./guard-scenarios.ts";
import type { GuardTiming } from "./guard-timing.ts";
import type { GuardRow, IdempotencyResult } from "./idempotency-suite.ts";
import type { Verdict } from "./requests-bounds.ts";

/** By how much a guarded job may take longer than with Powertools, in the median of the pairs. */
const MOST_DIFFERENCE_PCT = 5;
/** Of alternating runs, for a median that says something. */
const FEWEST_PAIRS = 9;

/** Every promise: the scenarios in their order, then requests, then time. */
export function judgeIdempotency(
  { rows, costs, timings }: IdempotencyResult,
  scenarios: readonly Pick<GuardScenario, "name" | "expected" | "because">[],
): readonly Verdict[] {
  return [
    ...rows.flatMap((row) => judgeRow(row, scenarios)),
    ...judgeCosts(costs),
    ...timings.slice(-1).map((timing) => judgeTiming(timing, timings.slice(0, -1))),
  ];
}

/** Whether a measurement keeps the bound. */
export function isInTime({
  median_difference_pct,
  pairs,
}: Pick<GuardTiming, "median_difference_pct" | "pairs">): boolean {
  return pairs.length >= FEWEST_PAIRS && median_difference_pct <= MOST_DIFFERENCE_PCT;
}

/** One verdict for each scenario and policy of ours; peers are shown, not judged. */
function judgeRow(
  row: GuardRow,
  scenarios: readonly Pick<GuardScenario, "name" | "expected" | "because">[],
): readonly Verdict[] {
  const scenario = scenarios.find(({ name }) => name === row.scenario);
  const policy = (["query", "park"] as const).find((one) => row.library === `leasehold ${one}`);
  if (policy === undefined || scenario === undefined) return [];
  const at = `${row.scenario}, ${policy}`;
  if ("not_run" in row) return [{ promise: `${at}: not run`, holds: false }];
  const { effect_ran, ended, alarms = 0 } = scenario.expected[policy];
  const holds = row.effect_ran === effect_ran && row.ended === ended && row.alarms === alarms;
  const found = figures(row);
  const wanted = holds ? "" : ` instead of ${figures({ effect_ran, ended, alarms })}`;
  return [{ promise: `${at}: ${found}${wanted}: ${scenario.because}`, holds }];
}

interface Figures {
  readonly effect_ran: number;
  readonly ended: string;
  readonly alarms: number;
}

function figures({ effect_ran, ended, alarms }: Figures): string {
  const told = alarms === 0 ? "" : `, alarms ${alarms}`;
  return `effect ran ${effect_ran}, ${ended}${told}`;
}

function judgeCosts(costs: IdempotencyResult["costs"]): readonly Verdict[] {
  const peer = costs.find(({ library }) => library === "powertools");
  if (peer === undefined) return [];
  return costs
    .filter(({ library }) => library.startsWith("leasehold"))
    .map(({ library, writes_per_job: own }) => ({
      promise: `${library}: ${own} writes a job, powertools ${peer.writes_per_job}, at most as many`,
      holds: own <= peer.writes_per_job,
    }));
}

function judgeTiming(timing: GuardTiming, before: readonly GuardTiming[]): Verdict {
  const { pairs, median_difference_pct: median } = timing;
  const missedBefore = before.map((one) => `; before that ${one.median_difference_pct} %`).join("");
  const promise = `time of a job in ${pairs.length} pairs of runs: ${median} % more than powertools in the median, at most ${MOST_DIFFERENCE_PCT} %${missedBefore}`;
  return { promise, holds: isInTime(timing), isTimed: true };
}
