/** What counts the attempts of a service's jobs, as its author chooses it. */

import type { AttemptLedger } from "@leasehold/job";
import { InvalidOptionsError } from "@leasehold/options";
import { memoryAttemptLedger } from "@leasehold/worker";

/**
 * `"receive-count"`: SQS's receives, against one budget of `maxAttempts` + `interruptionBudget`, which
 * releases, deploys and double deliveries spend as well. `"memory"`: this process, which gives
 * failures, interruptions and crashes budgets of their own; right for a laptop or a single worker, for
 * each of several counts for itself, and what died with its worker is not counted. Or a ledger that
 * all workers share.
 */
export type AttemptsChoice = "receive-count" | "memory" | AttemptLedger;

/**
 * The ledger, or nothing where receives are counted.
 *
 * @throws InvalidOptionsError when it is neither of the words nor a ledger
 */
export function openAttemptLedger(
  attempts: AttemptsChoice = "receive-count",
): AttemptLedger | undefined {
  if (attempts === "receive-count") return undefined;
  if (attempts === "memory") return memoryAttemptLedger();
  if (typeof attempts === "object" && typeof attempts?.open === "function") return attempts;
  const given = typeof attempts === "string" ? `"${attempts}"` : typeof attempts;
  const problem = `attempts must be "receive-count", "memory" or a ledger, got ${given}`;
  throw new InvalidOptionsError("service", [problem]);
}
