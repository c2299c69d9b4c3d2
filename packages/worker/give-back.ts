/** Gives leases back in a drain so that no poll of our own takes them again. */

import type { EndOutcome, Lease, ReleaseClass } from "@leasehold/lease";
import { openPollDelayMs } from "./drain-plan.ts";

/** The polls of one queue that are still open. */
export interface OwnPolls {
  readonly openPolls: number;
  /** How long they may still take messages in. */
  readonly pollRestMs: number;
  /** Resolves when they have ended. */
  quiet(): Promise<void>;
}

/**
 * Releases a lease once that is safe. A message that becomes visible at once waits until the own
 * polls of its queue have ended; when `mustRelease` says that there is no time left for it, the
 * message is hidden from them for the rest of their wait.
 */
export async function giveBackSafely(
  lease: Lease,
  asked: { readonly delayMs: number; readonly releaseClass: ReleaseClass },
  polls: OwnPolls,
  mustRelease: AbortSignal,
): Promise<EndOutcome> {
  const wouldComeBack = () => asked.delayMs === 0 && polls.openPolls > 0 && lease.remainingMs() > 0;
  while (wouldComeBack() && !mustRelease.aborted) {
    await Promise.race([polls.quiet(), aborted(mustRelease), aborted(lease.lost)]);
  }
  if (wouldComeBack()) return lease.release(openPollDelayMs(polls.pollRestMs), "poll-aborted");
  return lease.release(asked.delayMs, asked.releaseClass);
}

/** Resolves when the signal aborts, or at once when it has. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
