/** One cell of the kill matrix under each policy; `npm run drill -- --only payments` runs them all. */

import { expect, test } from "vitest";
import { cellName, cells } from "./cells.ts";
import { runCell } from "./run-cell.ts";
import { judge } from "./verdict.ts";

const chosen = cells.filter(
  ({ moment, cliKill }) =>
    moment.name === "SIGKILL after the provider got it" && cliKill === undefined,
);

test.concurrent.each(chosen.map((cell) => [cellName(cell), cell] as const))(
  "%s: charged once, and the job is done",
  { timeout: 120_000 },
  async (_, cell) => {
    const evidence = await runCell(cell);
    expect(judge(cell, evidence)).toEqual({ kind: "kept", broken: [] });
  },
);
