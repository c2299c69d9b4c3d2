/** What every lease of one queue shares. */

import type { Clock } from "@leasehold/clock";
import type { LeaseEnding } from "./lease-ending.ts";
import type { LeaseEvent } from "./lease-event.ts";
import type { ResolvedLeaseOptions } from "./options.ts";

/** The clock, the numbers and the ways out; `Held` is the lease. */
export interface Surroundings<Held> {
  readonly clock: Clock;
  readonly options: ResolvedLeaseOptions;
  readonly queueName: string;
  readonly hasDeadLetterQueue: boolean;
  /** Must not throw. */
  readonly emit: (event: LeaseEvent) => void;
  /** Makes one extension that reaches `forMs` from now, as far as it may. */
  readonly reach: (lease: Held, forMs: number) => Promise<void>;
  /** Deletes the message of a lost lease, once and without another try. */
  readonly discard: (lease: Held) => Promise<void>;
  /** Makes the calls of an ending that has been decided. */
  readonly settle: (lease: Held, ending: LeaseEnding) => void;
  /** The lease has ended, however it did, or its run has; asked again when the other follows. */
  readonly onChange: (lease: Held) => void;
}
