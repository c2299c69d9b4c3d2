/** The scenarios, in the order in which they are told. */

import type { Scenario } from "./scenario.ts";
import { drainScenarios } from "./scenarios-drain.ts";
import { killScenarios } from "./scenarios-kill.ts";
import { launchScenarios } from "./scenarios-launch.ts";
import { leaseScenarios } from "./scenarios-lease.ts";
import { rollingScenarios } from "./scenarios-rolling.ts";

/** Every scenario; names are unique. */
export const scenarios: readonly Scenario[] = [
  ...drainScenarios,
  ...killScenarios,
  ...leaseScenarios,
  ...launchScenarios,
  ...rollingScenarios,
];
