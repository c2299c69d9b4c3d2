/** Whether Leasehold came to the pairs that it promises. Pure. */

import type { Verdict } from "./requests-bounds.ts";
import type { ShutdownScenario } from "./shutdown-scenarios.ts";
import type { ShutdownRow } from "./shutdown-suite.ts";

/**
 * One verdict for each scenario that Leasehold played; peers are shown, not judged. Nothing may be
 * lost or out of order in any of them.
 */
export function judgeShutdown(
  rows: readonly ShutdownRow[],
  scenarios: readonly Pick<ShutdownScenario, "name" | "expected">[],
): readonly Verdict[] {
  return rows.flatMap((row) => {
    const expected = scenarios.find(({ name }) => name === row.scenario)?.expected;
    if (row.library !== "leasehold" || expected === undefined) return [];
    if ("not_run" in row) return [{ promise: `${row.scenario}: not run`, holds: false }];
    const { duplicated, stranded, because } = expected;
    const holds =
      row.duplicated === duplicated &&
      row.stranded === stranded &&
      row.lost === 0 &&
      row.out_of_order === 0;
    const found = [
      `${row.duplicated} duplicated, ${row.stranded} stranded`,
      ...(row.lost > 0 ? [`${row.lost} lost`] : []),
      ...(row.out_of_order > 0 ? [`${row.out_of_order} out of order`] : []),
    ].join(", ");
    const wanted = holds ? "" : ` instead of ${duplicated} and ${stranded}`;
    return [{ promise: `${row.scenario}: ${found}${wanted}: ${because}`, holds }];
  });
}
