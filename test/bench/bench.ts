/** `npm run bench`: Leasehold beside its peers, in one run on one machine; ratios, never deadlines. */

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { judgeRequests } from "./requests-bounds.ts";
import { runRequests } from "./requests-suite.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "requests" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
  },
});
if (values.only !== "requests") {
  console.error(`--only must be requests, got ${values.only}`);
  process.exit(2);
}

const result = await runRequests({ quick: values.quick }, (line) => console.error(line));
console.table(result.rows);
console.table(result.extensions);
const verdicts = judgeRequests(result);
for (const { holds, promise } of verdicts)
  console.log(`${holds ? "ok      " : "MISSED  "}${promise}`);
if (values.json === "-") console.log(JSON.stringify(result));
else if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result)}\n`);
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1;
