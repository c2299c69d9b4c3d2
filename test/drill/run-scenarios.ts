/** Scenarios with the services of this house, and their report as table, JSON and page. */

import { writeFileSync } from "node:fs";
import {
  type DrillPart,
  type DrillTarget,
  drillProgress,
  drillReport,
  htmlReport,
  jsonReport,
  runDrill,
  type Scenario,
  tableReport,
  unfitness,
} from "@leasehold/drill";
import { billingDrillTarget } from "./billing-target.ts";
import { trialTarget } from "./trial-target.ts";

/** Where the report goes, besides the terminal. */
export interface ScenarioFlags {
  readonly times: number;
  readonly json: string | undefined;
  readonly html: string | undefined;
}

/** Plays them and returns the exit code: 0 when every promise was held. */
export async function runScenarios(
  chosen: readonly Scenario[],
  { times, json, html }: ScenarioFlags,
): Promise<number> {
  const parts = Array.from({ length: times }, () => chosen.map(partOf)).flat();
  const results = await runDrill(parts, {
    onResult: (result, done) => console.log(drillProgress(result, done, parts.length)),
  });
  const report = drillReport(results, {
    contract: trialTarget.contract({}),
    target: "trial and billing-worker",
  });
  console.log(["", ...tableReport(report)].join("\n"));
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
