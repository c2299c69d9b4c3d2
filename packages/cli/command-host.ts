/** What every command is given instead of the process itself. */

import type { Clock } from "@leasehold/clock";
import type { Environment } from "@leasehold/local-aws";
import type { Output } from "./output.ts";
import type { SignalPresses } from "./signal-presses.ts";

/** The outside world of a command. */
export interface CommandHost {
  readonly clock: Clock;
  readonly output: Output;
  readonly presses: SignalPresses;
  /** Variables of this process. */
  readonly environment: Environment;
}
