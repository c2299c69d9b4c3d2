/** What a whole drill came to, as a report and as lines of progress. Pure. */

import { type DeploymentContract, workerTimings } from "@leasehold/deployment-contract";
import type { Report, ReportNumber, VerdictRow } from "./report.ts";
import type { DrillResult } from "./run-drill.ts";

/** The median of the gaps between a release and the next start elsewhere, at most. */
const MEDIAN_GAP_MS = 1_000;
const NAME_WIDTH = 44;
const SECONDS_WIDTH = 6;

/** The report of a drill by the numbers of its service. */
export function drillReport(
  results: readonly DrillResult[],
  { contract, target }: { readonly contract: DeploymentContract; readonly target: string },
): Report {
  return {
    title: `Shutdown drill of ${target}, preset ${contract.preset}`,
    numbers: numbersOf(contract),
    verdicts: [...results.flatMap(({ verdicts }) => verdicts), ...medianVerdict(results)],
    timelines: results.flatMap(({ timeline }) => timeline ?? []),
  };
}

/** One scenario that has ended, as a line. */
export function drillProgress(result: DrillResult, done: number, of: number): string {
  const { name, target, skipped, verdicts, tookMs } = result;
  const broken = verdicts.filter(({ held }) => !held);
  const why = skipped ?? broken.map(({ promise, seen }) => `${promise}: ${seen}`).join("; ");
  const count = `${String(done).padStart(String(of).length)}/${of}`;
  const took = `${(tookMs / 1_000).toFixed(1).padStart(SECONDS_WIDTH)} s`;
  const cells = [count, stateOf(result).padEnd(7), took, name.padEnd(NAME_WIDTH), target, why];
  return cells.join("  ").trimEnd();
}

function stateOf({ skipped, verdicts }: DrillResult): string {
  if (skipped !== undefined) return "skipped";
  return verdicts.every(({ held }) => held) ? "held" : "BROKEN";
}

function medianVerdict(results: readonly DrillResult[]): readonly VerdictRow[] {
  const gaps = results
    .flatMap(({ restartGapsMs }) => restartGapsMs)
    .map(Math.round)
    .toSorted((one, other) => one - other);
  const median = gaps[Math.floor((gaps.length - 1) / 2)];
  if (median === undefined) return [];
  return [
    {
      scenario: "all scenarios together",
      promise: "started elsewhere soon after a release, in the median",
      held: median <= MEDIAN_GAP_MS,
      seen: `${median} ms over ${gaps.length} releases, ${gaps.at(-1)} ms at most`,
      bound: `${MEDIAN_GAP_MS} ms`,
    },
  ];
}

/** The contract's own numbers, by which it was judged. */
function numbersOf(contract: DeploymentContract): readonly ReportNumber[] {
  const { drain, lease } = workerTimings(contract);
  const seconds = (ms: number) => `${ms / 1_000} s`;
  return [
    { name: "visibility timeout", value: seconds(lease.visibilityTimeoutMs) },
    { name: "drain deadline", value: seconds(drain.drainMs) },
    { name: "exits by itself", value: seconds(drain.exitAfterMs) },
    { name: "the platform kills", value: seconds(drain.killAfterMs) },
  ];
}
