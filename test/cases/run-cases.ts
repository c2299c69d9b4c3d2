/** Prints the cases from the field with their tests; with `--mutants` breaks the code for each. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { MutantTree } from "../support/mutant-tree.ts";
import { caseTables } from "./case-tables.ts";
import type { FieldCase } from "./field-case.ts";
import { type LedgerMutant, ledgerMutants } from "./ledger-mutants.ts";

/** As many as some breaks take to show. */
const SCHEDULES = 3_000;
const root = join(import.meta.dirname, "../..");

const { values } = parseArgs({
  options: { mutants: { type: "boolean", default: false }, only: { type: "string", default: "" } },
});
const chosen = Object.values(caseTables)
  .flat()
  .filter(({ report }) => report.includes(values.only));
const mutants = ledgerMutants.filter(({ mutant }) => mutant.includes(values.only));
let failures = listCases();
if (values.mutants) {
  using tree = new MutantTree();
  failures += await breakEach(tree, chosen);
  failures += await breakLedger(tree, mutants);
}
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

/** How many breaks their tests do not notice. */
async function breakEach(tree: MutantTree, cases: readonly FieldCase[]): Promise<number> {
  console.log("\nEach break of the code must turn its test red:");
  let survivors = 0;
  for (const one of cases) {
    const whole = await runTest(tree, one);
    const broken = await tree.broken(one.break, () => runTest(tree, one));
    const verdict = !whole ? "NOT GREEN" : broken ? "SURVIVED" : "killed";
    if (verdict !== "killed") survivors += 1;
    console.log(`  ${verdict.padEnd(9)}  ${one.report}: ${one.break.file}`);
  }
  return survivors;
}

/** How many breaks of the ledger its tests do not notice. */
async function breakLedger(tree: MutantTree, cases: readonly LedgerMutant[]): Promise<number> {
  if (cases.length > 0) console.log("\nEach break of the ledger must turn its tests red:");
  let survivors = 0;
  for (const suite of new Set(cases.map(({ caughtBy }) => caughtBy))) {
    if (await runVitest(tree, [suite])) continue;
    survivors += 1;
    console.log(`  NOT GREEN  ${suite}`);
  }
  for (const { mutant, caughtBy, break: broken } of cases) {
    const isGreen = await tree.broken(broken, () => runVitest(tree, [caughtBy, "--bail=1"]));
    if (isGreen) survivors += 1;
    console.log(`  ${(isGreen ? "SURVIVED" : "killed").padEnd(9)}  ${mutant}: ${broken.file}`);
  }
  return survivors;
}

/** Whether the case's test passes in the tree. */
function runTest(tree: MutantTree, { file, test, report }: FieldCase): Promise<boolean> {
  const name = `${test} (${report})`.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const suite = file.endsWith(".test.ts") ? file : file.replace(/\.ts$/, ".test.ts");
  return runVitest(tree, [suite, "-t", name, "--passWithNoTests=false", "--testTimeout=60000"]);
}

function runVitest({ folder }: MutantTree, args: readonly string[]): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...process.env, LEDGER_SCHEDULES: String(SCHEDULES) };
  const child = spawn(process.execPath, [vitest, "run", ...args], {
    ...{ cwd: folder, stdio: "ignore", env },
  });
  return new Promise((resolve) => child.once("close", (code) => resolve(code === 0)));
}
