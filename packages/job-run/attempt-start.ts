/** Begins an attempt when it may begin: at once, or, for a suspect, with no other job beside it. */

import type { JobIdentity } from "@leasehold/job";
import type { Lease, Turn } from "@leasehold/lease";
import { type Attempt, type LedgerStep, openAttempt } from "./attempt.ts";
import type { RunParts } from "./run-parts.ts";
import { decideStart, type StartDecision } from "./start-decision.ts";
import { describeThrown } from "./thrown.ts";

/** What an attempt is begun with. */
export interface AttemptStartParts {
  readonly lease: Lease;
  readonly job: JobIdentity;
  readonly run: Pick<RunParts, "ledger" | "policy" | "clock" | "turnAlone" | "onEvent">;
  /** Tries before this one on the same lease. */
  readonly tries: number;
  /** Whether to go on after a wait; when not, the message has been given back. */
  readonly wait: (turn: Promise<Turn>, limit: WaitLimit) => Promise<boolean>;
}

/** How long to wait at most, and how long the message stays away when that was too short. */
export interface WaitLimit {
  readonly patienceMs: number;
  readonly delayMs: number;
}

/**
 * Opens the attempt, again after each wait; `undefined` when its message was given back.
 *
 * A suspect that waits runs nothing: its start is taken back, so that it is not blamed for what kills
 * the worker meanwhile. It waits no longer than a job may run by the contract, for one that still runs
 * then may never end, and everybody else waits as well; then it stays away for as long as it waited.
 */
export async function beginAttempt(parts: AttemptStartParts): Promise<Attempt | undefined> {
  const { lease, job, tries, run } = parts;
  const { ledger, clock, policy } = run;
  const onUncounted = (during: LedgerStep, thrown: unknown) => {
    const error = describeThrown(thrown);
    run.onEvent({ kind: "job.uncounted", lease: lease.ref, job, during, error });
  };
  const { messageId } = lease.message;
  // Each try is a delivery to the ledger, also one that cost no receive.
  const receiveCount = lease.message.receiveCount + tries;
  const { budgets, ledgerTimeoutMs: timeoutMs } = policy;
  for (;;) {
    const attempt = await openAttempt(
      { job, messageId, receiveCount },
      { ledger, clock, budgets, timeoutMs, onUncounted },
    );
    const isSuspect = startOf(attempt, lease).kind === "run-alone";
    const turn = isSuspect ? run.turnAlone?.(lease) : undefined;
    if (turn === undefined) return attempt;
    await attempt.end({ kind: "uncounted" });
    const patienceMs = policy.jobTimeoutMs;
    if (!(await parts.wait(turn, { patienceMs, delayMs: patienceMs }))) return undefined;
  }
}

/** How the attempt may start. */
export function startOf({ history, budgets }: Attempt, { canDeadLetter }: Lease): StartDecision {
  return decideStart({ history, budgets, canDeadLetter });
}
