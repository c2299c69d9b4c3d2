/** One attempt at a job, whoever keeps count of it. */

import type {
  AttemptHistory,
  ControlOutcome,
  EndAnswer,
  JobEndingNote,
  OpenJob,
} from "@leasehold/job";
import type { AttemptBudgets } from "./start-decision.ts";

/** One attempt, from its start in a ledger to its ending there. Nothing of it rejects. */
export interface Attempt {
  readonly kind: "open";
  readonly history: AttemptHistory;
  readonly budgets: AttemptBudgets;
  /** Failures before it, and itself. */
  readonly number: number;
  /** The job as it is open in its ledger; there is none where attempts are only counted. */
  readonly effects?: OpenJob;
  /** Writes how it ended; answers at once when there is nothing to write or to wait for. */
  end(ending: JobEndingNote): Promise<EndAnswer | undefined> | undefined;
}

/** What opening an attempt came to: it may begin, or its ledger says how the delivery ends. */
export type AttemptStart = Attempt | ControlOutcome;

/** An attempt at a job that is open in its ledger. */
export class LedgerAttempt implements Attempt {
  readonly kind = "open";
  readonly budgets: AttemptBudgets;
  readonly effects: OpenJob;

  constructor(effects: OpenJob, budgets: AttemptBudgets) {
    this.effects = effects;
    this.budgets = budgets;
  }

  get history(): AttemptHistory {
    return this.effects.history;
  }

  get number(): number {
    return this.history.failures + 1;
  }

  end(ending: JobEndingNote): Promise<EndAnswer> {
    return this.effects.end(ending);
  }
}
