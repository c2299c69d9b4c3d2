/** Prints the cases from the field with their tests; with `--mutants` breaks the code for each. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Break, MutantTree } from "../support/mutant-tree.ts";
import { caseTables } from "./case-tables.ts";
import type { FieldCase } from "./field-case.ts";
import { type LedgerMutant, ledgerMutants } from "./ledger-mutants.ts";

/** As many as some breaks take to show. */
const SCHEDULES = 3_000;
/** Each run starts with what one core does alone. */
const AT_A_TIME = Math.max(1, Math.min(4, availableParallelism()));
const root = join(import.meta.dirname, "../..");

const { values } = parseArgs({
  options: { mutants: { type: "boolean", default: false }, only: { type: "string", default: "" } },
});
const chosen = Object.values(caseTables)
  .flat()
  .filter(({ report }) => report.includes(values.only));
const mutants = ledgerMutants.filter(({ mutant }) => mutant.includes(values.only));
let failures = listCases();
if (values.mutants) failures += await breakAll();
const judged = chosen.length + (values.mutants ? mutants.length : 0);
console.log(`\ncases: ${judged - failures} passed, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;

/** How many have no test of their name. */
function listCases(): number {
  let missing = 0;
  for (const [title, cases] of Object.entries(caseTables)) {
    console.log(`\n${title}`);
    for (const one of cases.filter((field) => chosen.includes(field))) {
      const hasTest = readFileSync(join(root, one.file), "utf8").includes(
        `${one.test} (${one.report})`,
      );
      if (!hasTest) missing += 1;
      console.log(`  ${hasTest ? "test   " : "MISSING"}  ${one.report}`);
      console.log(`           ${one.symptom}`);
      console.log(`           right: ${one.right}`);
      console.log(`           ${one.file}: ${one.test}`);
    }
  }
  return missing;
}

/** One break, and the tests that must notice it. */
interface Trial {
  readonly name: string;
  readonly break: Break;
  readonly suite: string;
  readonly args: readonly string[];
}

/** How many breaks their tests do not notice; several are tried at a time, each in a tree of its own. */
async function breakAll(): Promise<number> {
  const waiting: Trial[] = [...chosen.map(trialOfCase), ...mutants.map(trialOfMutant)];
  const suites = [...new Set(waiting.map(({ suite }) => suite))];
  let survivors = 0;
  const workOff = async () => {
    using tree = new MutantTree();
    for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift()) {
      const { args } = trial;
      const isGreen = await tree.broken(trial.break, () => runVitest(tree, args));
      if (isGreen) survivors += 1;
      console.log(`  ${(isGreen ? "SURVIVED" : "killed").padEnd(9)}  ${trial.name}`);
    }
  };
  {
    using tree = new MutantTree();
    if (!(await runVitest(tree, suites))) {
      survivors += 1;
      console.log("\nNOT GREEN: the tests fail without any break; run npm test");
    }
  }
  console.log("\nEach break of the code must turn its test red:");
  await Promise.all(Array.from({ length: AT_A_TIME }, workOff));
  return survivors;
}

function trialOfCase({ file, test, report, break: broken }: FieldCase): Trial {
  const name = `${test} (${report})`.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const suite = file.endsWith(".test.ts") ? file : file.replace(/\.ts$/, ".test.ts");
  const args = [suite, "-t", name, "--passWithNoTests=false", "--testTimeout=60000"];
  return { name: `${report}: ${broken.file}`, break: broken, suite, args };
}

function trialOfMutant({ mutant, caughtBy: suite, break: broken }: LedgerMutant): Trial {
  const args = [suite, "--bail=1"];
  return { name: `${mutant}: ${broken.file}`, break: broken, suite, args };
}

function runVitest({ folder }: MutantTree, args: readonly string[]): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...process.env, LEDGER_SCHEDULES: String(SCHEDULES) };
  const child = spawn(process.execPath, [vitest, "run", ...args], {
    ...{ cwd: folder, stdio: "ignore", env },
  });
  return new Promise((resolve) => child.once("close", (code) => resolve(code === 0)));
}
