/** Plays seeds until one goes wrong, says which, and ends with 1. */

import { historyOf } from "./history.ts";
import type { Profile } from "./profiles.ts";
import { play } from "./world.ts";

const [profile = "harsh", most = "1000"] = process.argv.slice(2);

for (let seed = 1; seed <= Number(most); seed += 1) {
  const { violations } = await play(historyOf(seed, profile as Profile));
  if (violations.length === 0) continue;
  console.log(seed);
  process.exit(1);
}
