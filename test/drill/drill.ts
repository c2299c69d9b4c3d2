/** The drills: all of them as tests, or with `--only payments` the kill matrix and its table. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cellName, cells } from "./payments/cells.ts";
import { matrixText, progressLine } from "./payments/matrix-text.ts";
import { runMatrix } from "./payments/run-matrix.ts";

const USAGE = "npm run drill [-- --only payments [--cell <part of a name>] [--json <file>]]";

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      cell: { type: "string", default: "" },
      json: { type: "string" },
    },
  });
  if (values.only === undefined) return runTests();
  if (values.only !== "payments") return misused(`--only knows payments, got ${values.only}`);
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
  console.error(`${problem}: ${USAGE}`);
  return 2;
}

process.exitCode = await main();
