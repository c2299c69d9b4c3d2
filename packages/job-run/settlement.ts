/** Asks a lease to end as its run has decided, with delays that SQS and a drain allow. */

import type { EndOutcome, Lease } from "@leasehold/lease";
import type { Ending } from "./job-ending.ts";
import { growingDelayMs } from "./retry-delay.ts";
import type { RunParts } from "./run-parts.ts";

/** What a settlement works with. */
export type SettlementParts = Pick<RunParts, "policy" | "shortestDelayMs" | "giveBack">;

/**
 * Asks for the ending.
 *
 * @param isAbandoned - there is no time left to wait until giving back is safe
 */
export function settle(
  lease: Lease,
  ending: Ending,
  parts: SettlementParts,
  isAbandoned: boolean,
): Promise<EndOutcome> {
  const fit = (delayMs: number) => fitDelayMs(delayMs, lease, parts);
  switch (ending.kind) {
    case "ack":
      return lease.ack();
    case "dead-letter": {
      // What was refused once is refused again: each time it stays away for longer.
      const refusedDelayMs = growingDelayMs(lease.message.receiveCount, parts.policy.backoff);
      return lease.deadLetter(ending.reason, fit(refusedDelayMs));
    }
    case "let-go":
      return lease.letGo(ending.code);
    case "retry":
      return lease.retry(fit(ending.delayMs));
    case "release":
      if (isAbandoned) return lease.release(fit(ending.delayMs), ending.class);
      return parts.giveBack(lease, fit(ending.delayMs), ending.class);
  }
}

/** A delay that reaches beyond the time for which SQS lets a message be held is refused whole. */
function fitDelayMs(
  delayMs: number,
  lease: Lease,
  { shortestDelayMs }: Pick<SettlementParts, "shortestDelayMs">,
): number {
  const shortestMs = delayMs === 0 ? 0 : shortestDelayMs();
  return Math.min(Math.max(delayMs, shortestMs), lease.holdRemainingMs());
}
