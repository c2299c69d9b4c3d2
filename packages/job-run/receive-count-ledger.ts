/** The ledger of a worker that has none: attempts are counted by SQS's receives. Pure. */

import type { AttemptHistory, AttemptLedger } from "@leasehold/job";
import { type AttemptBudgets, NO_BUDGETS } from "./start-decision.ts";

/**
 * The history that a receive count stands for when nothing better is known: every receive before
 * this one failed, or was put off.
 */
export function historyByReceives(receiveCount: number): AttemptHistory {
  const before = Math.max(1, receiveCount) - 1;
  return { failures: before, interruptions: 0, crashes: 0, putOffs: before, isEstimate: true };
}

/**
 * The budget where receives are counted, one for all.
 *
 * Releases, interruptions and double deliveries are receives, too, so it has to be failures and
 * interruptions together: a job that only fails is tried more often than `maxAttempts` says, which
 * is the price of having no ledger, and one that deploys interrupt is not dead-lettered for it.
 */
export function receiveBudgets(receiveBudget: number): AttemptBudgets {
  return { ...NO_BUDGETS, failures: Math.max(1, receiveBudget) };
}

/** Counts by receives; has nothing to ask and nothing to write. */
export const receiveCountLedger: AttemptLedger = Object.freeze({
  open: ({ receiveCount }) => ({
    kind: "open" as const,
    history: historyByReceives(receiveCount),
    end: () => undefined,
  }),
} satisfies AttemptLedger);
