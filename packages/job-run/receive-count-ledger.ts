/** The ledger of a worker that has none: attempts are counted by SQS's receives. Pure. */

/** How often a job was tried, and how often it may fail. */
export interface AttemptCount {
  /** This run included. */
  readonly attempt: number;
  /** The run that fails with this number is the last. */
  readonly budget: number;
}

/**
 * The count from the receive count alone.
 *
 * Releases, interruptions and double deliveries raise it too, so the budget is failures and
 * interruptions together: a job that only fails is tried more often than `maxAttempts` says, which
 * is the price of having no ledger, and one that deploys interrupt is not dead-lettered for it.
 */
export function countByReceives(receiveCount: number, receiveBudget: number): AttemptCount {
  return { attempt: Math.max(1, receiveCount), budget: Math.max(1, receiveBudget) };
}
