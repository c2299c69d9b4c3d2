/** Scenarios with the services of this house, and their report as table, JSON and page. */

import { writeFileSync } from "node:fs";
import { workerTimings } from "@leasehold/deployment-contract";
import {
  type DrillPart,
  type DrillResult,
  type DrillTarget,
  htmlReport,
  jsonReport,
  type Report,
  type ReportNumber,
  runDrill,
  type Scenario,
  tableReport,
  unfitness,
} from "@leasehold/drill";
import { billingDrillTarget } from "./billing-target.ts";
import { drillPreset } from "./drill-site.ts";
import { trialTarget } from "./trial-target.ts";

/** Where the report goes, besides the terminal. */
export interface ScenarioFlags {
  readonly times: number;
  readonly json: string | undefined;
  readonly html: string | undefined;
}

/** The median of the gaps between a release and the next start elsewhere, at most. */
const MEDIAN_GAP_MS = 1_000;
/** Below that a report shows no more of a name. */
const NAME_WIDTH = 44;

/** Plays them and returns the exit code: 0 when every promise was held. */
export async function runScenarios(
  chosen: readonly Scenario[],
  { times, json, html }: ScenarioFlags,
): Promise<number> {
  const parts = Array.from({ length: times }, () => chosen.map(partOf)).flat();
  const results = await runDrill(parts, {
    onResult: (result, done) => console.log(progressLine(result, done, parts.length)),
  });
  const report = reportOf(results);
  console.log(["", ...tableReport(report)].join("\n"));
  console.log(gapLine(results));
  if (json !== undefined) writeFileSync(json, jsonReport(report));
  if (html !== undefined) writeFileSync(html, htmlReport(report));
  return report.verdicts.every(({ held }) => held) ? 0 : 1;
}

/** The trial service where it can, for it misbehaves on demand; else the billing worker. */
function partOf(scenario: Scenario): DrillPart {
  const targets: readonly DrillTarget[] = [trialTarget, billingDrillTarget()];
  const target = targets.find((candidate) => unfitness(scenario, candidate) === undefined);
  return { scenario, target: target ?? trialTarget };
}

function progressLine(
  { name, target, skipped, verdicts, tookMs }: DrillResult,
  done: number,
  of: number,
): string {
  const broken = verdicts.filter(({ held }) => !held);
  const state = skipped === undefined ? (broken.length === 0 ? "held" : "BROKEN") : "skipped";
  const why = skipped ?? broken.map(({ promise, seen }) => `${promise}: ${seen}`).join("; ");
  const count = `${String(done).padStart(String(of).length)}/${of}`;
  const took = `${(tookMs / 1_000).toFixed(1).padStart(6)} s`;
  return `${count}  ${state.padEnd(7)} ${took}  ${name.padEnd(NAME_WIDTH)} ${target}  ${why}`.trimEnd();
}

function reportOf(results: readonly DrillResult[]): Report {
  const verdicts = results.flatMap((result) => result.verdicts);
  const gaps = gapsOf(results);
  const median = gaps[Math.floor((gaps.length - 1) / 2)];
  return {
    title: `Shutdown drill, preset ${drillPreset}`,
    numbers: numbersOf(),
    verdicts: [
      ...verdicts,
      ...(median === undefined
        ? []
        : [
            {
              scenario: "all scenarios",
              promise: "started elsewhere soon after a release, in the median",
              held: median <= MEDIAN_GAP_MS,
              seen: `${median} ms over ${gaps.length} releases`,
              bound: `${MEDIAN_GAP_MS} ms`,
            },
          ]),
    ],
    timelines: results.flatMap(({ timeline }) => timeline ?? []),
  };
}

function gapsOf(results: readonly DrillResult[]): readonly number[] {
  return results
    .flatMap(({ restartGapsMs }) => restartGapsMs)
    .map(Math.round)
    .toSorted((one, other) => one - other);
}

function gapLine(results: readonly DrillResult[]): string {
  const gaps = gapsOf(results);
  if (gaps.length === 0) return "no message was released";
  const median = gaps[Math.floor((gaps.length - 1) / 2)];
  return `from a release to the next start elsewhere: ${median} ms in the median, ${gaps.at(-1)} ms at most`;
}

/** The contract's own numbers, by which it was judged. */
function numbersOf(): readonly ReportNumber[] {
  const { drain, lease } = workerTimings(trialTarget.contract({}));
  const seconds = (ms: number) => `${ms / 1_000} s`;
  return [
    { name: "visibility timeout", value: seconds(lease.visibilityTimeoutMs) },
    { name: "drain deadline", value: seconds(drain.drainMs) },
    { name: "exits by itself", value: seconds(drain.exitAfterMs) },
    { name: "the platform kills", value: seconds(drain.killAfterMs) },
  ];
}
