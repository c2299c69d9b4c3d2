/** Runs the cells of the kill matrix, some at a time, and tells of each. */

import type { Cell } from "./cells.ts";
import type { CellResult } from "./matrix-text.ts";
import { runCell } from "./run-cell.ts";
import { judge } from "./verdict.ts";
import { warmUp } from "./warm-up.ts";

/** Cells mostly wait for leases to end; more at a time would starve two cores. */
const AT_A_TIME = 6;

/**
 * Runs every cell.
 * @param tell - called as each one ends
 * @returns one result for each cell, in their order
 */
export async function runMatrix(
  cells: readonly Cell[],
  tell: (result: CellResult, done: number) => void,
): Promise<readonly CellResult[]> {
  await using cache = await warmUp();
  const results: CellResult[] = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let at = next++; at < cells.length; at = next++) {
      const result = await runOne(cells[at] as Cell, cache.environment);
      results[at] = result;
      done += 1;
      tell(result, done);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return results;
}

async function runOne(
  cell: Cell,
  environment: Readonly<Record<string, string>>,
): Promise<CellResult> {
  const startedAtMs = performance.now();
  const evidence = await runCell(cell, environment);
  const tookMs = performance.now() - startedAtMs;
  return { cell, evidence, verdict: judge(cell, evidence), tookMs };
}
