/** Port: what a lease asks of the one who extends it in another thread. */

import type { LeaseTimes } from "./extension-plan.ts";

/** What has been proved about a lease's time elsewhere. */
export interface KeptTerm extends Pick<LeaseTimes, "lastSentAt" | "validUntil" | "visibleBy"> {
  /**
   * `refused`: SQS will never take the handle again that was the newest when this was written.
   * `late`: an answer came after `validUntil`, so nothing is proved any more.
   */
  readonly verdict: "held" | "refused" | "late";
}

/** The one who extends a lease in another thread; its word on the lease's time counts. */
export interface LeaseKeeper {
  /** The newest word; the same object until there is a newer one. */
  read(): KeptTerm;
  /** The message was received again, and is visible at `visibleBy` at the latest. */
  adopt(receiptHandle: string, visibleBy: LeaseTimes["visibleBy"]): void;
}
