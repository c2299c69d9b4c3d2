/** A process that plays seeds as it is told, for whoever plays many. */

import { historyOf } from "./history.ts";
import type { Profile } from "./profiles.ts";
import { play } from "./world.ts";

/** Which seeds to play. */
export interface RangeOrder {
  readonly profile: Profile;
  readonly from: number;
  readonly count: number;
}

/** What came of them. */
export interface RangeResult {
  readonly order: RangeOrder;
  readonly seen: readonly (readonly [string, number])[];
  readonly failed: readonly { readonly seed: number; readonly violations: readonly string[] }[];
}

process.on(
  "message",
  (order: RangeOrder) => void playRange(order).then((result) => process.send?.(result)),
);
process.on("disconnect", () => process.exit());

async function playRange(order: RangeOrder): Promise<RangeResult> {
  const seen = new Map<string, number>();
  const failed: { seed: number; violations: readonly string[] }[] = [];
  for (let seed = order.from; seed < order.from + order.count; seed += 1) {
    const outcome = await play(historyOf(seed, order.profile));
    for (const [what, times] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + times);
    if (outcome.violations.length > 0) failed.push({ seed, violations: outcome.violations });
  }
  return { order, seen: [...seen], failed };
}
