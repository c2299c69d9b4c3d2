/** What a failed claim says, and whether it may pass by itself. Pure. */

import { describeThrown } from "@leasehold/job-run";

/** A claim's failure as its event tells it; what is no `ClaimFailedError` is taken to pass by itself. */
export function readFailure(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
} {
  const { name, message } = describeThrown(error);
  if (name !== "ClaimFailedError") return { code: name, message, retryable: true };
  const { reason, retryable } = error as { readonly reason: string; readonly retryable: boolean };
  return { code: reason, message, retryable };
}
