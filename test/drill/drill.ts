/** The drills: as tests, as scenarios with a report, or with `--only payments` the kill matrix. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { scenarios } from "@leasehold/drill";
import { cellName, cells } from "./payments/cells.ts";
import { matrixText, progressLine } from "./payments/matrix-text.ts";
import { runMatrix } from "./payments/run-matrix.ts";
import { runScenarios } from "./run-scenarios.ts";

const USAGE = [
  "npm run drill                                   the drills that are tests",
  "npm run drill -- --list                         the scenarios by name",
  "npm run drill -- --all                          every scenario, with a report",
  "npm run drill -- --only <part of a name>        some scenarios",
  "npm run drill -- --only payments [--cell <part of a name>]  the kill matrix",
  "  --json <file>  --html <file>  --times <n>     where the report goes; how often it is played",
].join("\n");

async function main(): Promise<number> {
  const flags = readFlags();
  if (typeof flags === "string") return misused(flags);
  const { values } = flags;
  if (values.only === "payments") return await runPayments(values);
  if (values.list === true) return list();
  if (values.all !== true && values.only === undefined) return runTests();
  const times = Number(values.times);
  if (!Number.isInteger(times) || times < 1) {
    return misused(`--times must be a whole number from 1, got ${values.times}`);
  }
  const chosen = scenarios.filter(({ name }) => name.includes(values.only ?? ""));
  if (chosen.length === 0) return misused(`no scenario is named like "${values.only}"`);
  return await runScenarios(chosen, { times, json: values.json, html: values.html });
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        all: { type: "boolean" },
        list: { type: "boolean" },
        only: { type: "string" },
        cell: { type: "string", default: "" },
        json: { type: "string" },
        html: { type: "string" },
        times: { type: "string", default: "1" },
      },
    });
  } catch (error) {
    return (error as Error).message;
  }
}

function list(): number {
  for (const { name, story } of scenarios) console.log(`${name}\n    ${story}`);
  return 0;
}

async function runPayments(values: {
  readonly cell: string;
  readonly json?: string | undefined;
}): Promise<number> {
  const chosen = cells.filter((cell) => cellName(cell).includes(values.cell));
  if (chosen.length === 0) return misused(`no cell is named like "${values.cell}"`);
  const results = await runMatrix(chosen, (result, done) =>
    console.log(progressLine(result, done, chosen.length)),
  );
  console.log(matrixText(results).join("\n"));
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  return results.some(({ verdict }) => verdict.kind === "broken") ? 1 : 0;
}

/** The drills that are tests. */
function runTests(): number {
  const root = join(import.meta.dirname, "../..");
  const { status } = spawnSync("vitest", ["run", "test/drill"], { cwd: root, stdio: "inherit" });
  return status ?? 1;
}

function misused(problem: string): number {
  console.error(`${problem}\n${USAGE}`);
  return 2;
}

process.exitCode = await main();
