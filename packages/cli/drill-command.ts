/** drill: plays scenarios with workers of one service and writes the report. */

import { writeFile } from "node:fs/promises";
import {
  type DrillTarget,
  drillProgress,
  drillReport,
  htmlReport,
  jsonReport,
  nodeCommand,
  runDrill,
  scenarios,
  tableReport,
} from "@leasehold/drill";
import type { LocalAwsOptions } from "@leasehold/local-aws";
import type { CommandHost } from "./command-host.ts";
import type { DrillFlags } from "./drill-flags.ts";
import { CommandMisusedError } from "./errors.ts";
import { loadLocalTarget } from "./load-target.ts";
import type { LocalTarget } from "./local-target.ts";

const HELD = 0;
const BROKEN = 1;

/**
 * Runs the drill and returns its exit code: 0 when every promise was held, 1 when one was not.
 *
 * @throws CommandMisusedError when no scenario has that name, or the service fits none of them
 */
export async function runDrillCommand(flags: DrillFlags, host: CommandHost): Promise<number> {
  const { output } = host;
  const chosen = scenarios.filter(({ name }) => name.includes(flags.only ?? ""));
  if (chosen.length === 0) {
    throw new CommandMisusedError(`no scenario is named like "${flags.only}": see drill --list`);
  }
  if (flags.list === true) {
    for (const { name, story } of chosen) output.say(`${name}\n    ${story}`);
    return HELD;
  }
  const aws = awsFor(flags, host);
  const target = drillTargetOf(await loadLocalTarget(flags.target ?? ""), flags);
  const parts = Array.from({ length: flags.times }, () =>
    chosen.map((scenario) => ({ scenario, target })),
  ).flat();
  const results = await runDrill(parts, {
    aws,
    onResult: (result, done) => output.say(drillProgress(result, done, parts.length)),
  });
  if (results.every(({ skipped }) => skipped !== undefined)) {
    throw new CommandMisusedError(`${target.name} fits none of these scenarios`);
  }
  const report = drillReport(results, { contract: target.contract({}), target: target.name });
  output.say(["", ...tableReport(report)].join("\n"));
  if (flags.json !== undefined) await writeFile(flags.json, jsonReport(report));
  if (flags.html !== undefined) await writeFile(flags.html, htmlReport(report));
  return report.verdicts.every(({ held }) => held) ? HELD : BROKEN;
}

/**
 * Each worker's requests are watched on their way, by a proxy that AWS's signatures would refuse.
 *
 * @throws CommandMisusedError when the endpoint can only be reached by https, or is not known
 */
function awsFor({ aws }: DrillFlags, { environment, clock }: CommandHost): LocalAwsOptions {
  if (aws === "embedded") return { mode: aws, clock };
  const endpoint = environment["AWS_ENDPOINT_URL_SQS"] || environment["AWS_ENDPOINT_URL"] || "";
  if (/^http:/.test(endpoint)) return { mode: aws, environment };
  throw new CommandMisusedError(
    "--aws endpoint needs an AWS_ENDPOINT_URL that begins with http:, for example " +
      `http://127.0.0.1:4566, got ${endpoint === "" ? "nothing" : endpoint}; a deployment on AWS ` +
      "itself is drilled by its platform",
  );
}

/** A service as it is known to `leasehold local`: its jobs are samples that may be made long. */
function drillTargetOf(target: LocalTarget, { preset, command }: DrillFlags): DrillTarget {
  const chosen = preset === undefined ? {} : { preset };
  const { slowJob } = target;
  return {
    name: target.name,
    command: command ?? nodeCommand(...target.command),
    can: ["work"],
    contract: () => target.contract(preset),
    tables: target.tables,
    ...(target.startCompanion !== undefined && {
      startCompanion: async ({ folder }) =>
        (await target.startCompanion?.({ folder })) ?? NO_COMPANION,
    }),
    environment: ({ folder, work }) =>
      target.environment({
        ...chosen,
        ...{ folder, receiptsFolder: folder, adminPort: 0, logLevel: "debug" },
        renderMs: work.forMs,
      }),
    ...(slowJob !== undefined && { slowType: slowJob.type }),
    jobs: (_, from, count) => [
      ...target.sampleJobs({ count: count * (slowJob?.samples ?? 1), seed: from }),
    ],
  };
}

const NO_COMPANION = { environment: {}, close: async () => {} };
