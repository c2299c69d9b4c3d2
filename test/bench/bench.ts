/** `npm run bench`: Leasehold beside its peers, in one run on one machine; ratios, never deadlines. */

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { formatTable } from "./bench-table.ts";
import { guardScenarios } from "./guard-scenarios.ts";
import { judgeIdempotency } from "./idempotency-bounds.ts";
import { runIdempotency } from "./idempotency-suite.ts";
import { judgeProducer } from "./producer-bounds.ts";
import { runProducer } from "./producer-suite.ts";
import { judgeRequests, type Verdict } from "./requests-bounds.ts";
import { runRequests } from "./requests-suite.ts";
import { judgeShutdown } from "./shutdown-expectations.ts";
import { shutdownScenarios } from "./shutdown-scenarios.ts";
import { QUICK_SCENARIOS, runShutdown } from "./shutdown-suite.ts";

const SUITES = ["requests", "shutdown", "producer", "idempotency"];

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
const { only, json, quick } = values;
if (only !== undefined && !SUITES.includes(only)) {
  console.error(`--only must be ${SUITES.join(" or ")}, got ${only}`);
  process.exit(2);
}

const progress = (line: string) => console.error(line);
const results: object[] = [];
const verdicts: Verdict[] = [];

if (only === undefined || only === "shutdown") {
  const result = await runShutdown(quick ? { scenarios: QUICK_SCENARIOS } : {}, progress);
  const cells = result.rows.map((row) => ("not_run" in row ? { ...row, not_run: "*" } : row));
  console.log(`${formatTable(cells.map((row) => ({ ...row })))}\n`);
  results.push(result);
  verdicts.push(...judgeShutdown(result.rows, shutdownScenarios));
  for (const row of result.rows) {
    if ("not_run" in row) console.log(`not run ${row.scenario}, ${row.library}: ${row.not_run}`);
  }
}
if (only === undefined || only === "requests") {
  const result = await runRequests({ quick }, progress);
  console.log(`${formatTable(result.rows.map((row) => ({ ...row })))}\n`);
  console.log(`${formatTable(result.extensions.map((row) => ({ ...row })))}\n`);
  results.push(result);
  verdicts.push(...judgeRequests(result));
}
if (only === undefined || only === "producer") {
  const result = await runProducer({ quick }, progress);
  console.log(`${formatTable(result.rows.map((row) => ({ ...row })))}\n`);
  results.push(result);
  verdicts.push(...judgeProducer(result));
}
if (only === undefined || only === "idempotency") {
  const result = await runIdempotency({ quick }, progress);
  const cells = result.rows.map((row) => ("not_run" in row ? { ...row, not_run: "*" } : row));
  console.log(`${formatTable(cells.map((row) => ({ ...row })))}\n`);
  for (const row of result.rows) {
    if ("not_run" in row) console.log(`not run ${row.scenario}, ${row.library}: ${row.not_run}\n`);
  }
  console.log(`${formatTable(result.costs.map((row) => ({ ...row })))}\n`);
  const timings = result.timings.map(({ pairs, ...timing }) => ({
    pairs: pairs.length,
    ...timing,
  }));
  console.log(`${formatTable(timings)}\n`);
  results.push(result);
  verdicts.push(...judgeIdempotency(result, guardScenarios));
}

for (const { holds, isTimed = false, promise } of verdicts) {
  console.log(`${holds ? "ok" : isTimed ? "slow" : "MISSED"}`.padEnd(8) + promise);
}
const lines = results.map((result) => `${JSON.stringify(result)}\n`).join("");
if (json === "-") process.stdout.write(lines);
else if (json !== undefined) writeFileSync(json, lines);
process.exitCode = verdicts.every(({ holds, isTimed }) => holds || isTimed === true) ? 0 : 1;
