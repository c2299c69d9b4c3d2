/** Whether a job may be tried again, alone, or not at all: from its history and budgets. Pure. */

import type { AttemptHistory, GivenUp } from "@leasehold/job";

/** How much of each is borne with. */
export interface AttemptBudgets {
  /** The failure with this number is the last. */
  readonly failures: number;
  /** With one more interruption than these, without progress between them, a job is given up. */
  readonly interruptions: number;
  /** After so many crashes a job runs with no other beside it; with one more it is given up. */
  readonly crashes: number;
}

/** Nothing is ever exhausted. */
export const NO_BUDGETS: AttemptBudgets = Object.freeze({
  failures: Number.POSITIVE_INFINITY,
  interruptions: Number.POSITIVE_INFINITY,
  crashes: Number.POSITIVE_INFINITY,
});

/** How a job may start. */
export type StartDecision =
  | { readonly kind: "run" }
  /** It may be what kills workers: no other job is to die with it, or to be blamed for it. */
  | { readonly kind: "run-alone" }
  | { readonly kind: "give-up"; readonly reason: GivenUp };

/** What a start depends on. */
export interface StartFacts {
  readonly history: AttemptHistory;
  readonly budgets: AttemptBudgets;
  readonly canDeadLetter: boolean;
}

/**
 * How a job may start.
 *
 * Interruptions are judged here and not when the last of them comes: that is in a drain, where time
 * is short, and a handler that does not even answer could not be judged there. Without a dead-letter
 * queue nothing is given up, for it would vanish.
 */
export function decideStart({ history, budgets, canDeadLetter }: StartFacts): StartDecision {
  const reason = canDeadLetter ? reasonToGiveUp(history, budgets) : undefined;
  if (reason !== undefined) return { kind: "give-up", reason };
  const isSuspect = history.crashes > 0 && history.crashes >= budgets.crashes;
  return { kind: isSuspect ? "run-alone" : "run" };
}

function reasonToGiveUp(history: AttemptHistory, budgets: AttemptBudgets): GivenUp | undefined {
  const { crashes, interruptions } = history;
  if (crashes > budgets.crashes) {
    const detail = `its worker died under it ${crashes} times, the last time with no other job beside it`;
    return reasonOf("killed-its-worker", detail, history);
  }
  if (interruptions > budgets.interruptions) {
    const detail = `it was interrupted ${interruptions} times without saved progress, at most ${budgets.interruptions} are borne with`;
    return reasonOf("interruptions-exhausted", detail, history);
  }
  return undefined;
}

/** A reason with the counts behind it, as far as they were counted. */
export function reasonOf(code: string, detail: string, history: AttemptHistory): GivenUp {
  const { failures, interruptions, crashes, putOffs, isEstimate } = history;
  if (isEstimate) return { code, detail };
  return { code, detail, counts: { failures, interruptions, crashes, put_offs: putOffs } };
}
