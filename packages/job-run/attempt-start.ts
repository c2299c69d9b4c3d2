/** Begins an attempt when it may begin: at once, or, for a suspect, with no other job beside it. */

import type { AnyJobDefinition, RawJob } from "@leasehold/job";
import type { Lease, Turn } from "@leasehold/lease";
import { type Attempt, type AttemptStart, LedgerAttempt } from "./attempt.ts";
import { countAttempt, type LedgerStep } from "./counted-attempt.ts";
import { surroundingsOf } from "./effect-surroundings.ts";
import { identityOf } from "./read-job.ts";
import type { RunParts } from "./run-parts.ts";
import { decideStart, type StartDecision } from "./start-decision.ts";
import { describeThrown } from "./thrown.ts";

/** What an attempt is begun with. */
export interface AttemptStartParts {
  readonly lease: Lease;
  /** As it came. */
  readonly raw: RawJob;
  readonly definition: AnyJobDefinition;
  /** The handler's signal, to be. */
  readonly signal: AbortSignal;
  readonly run: Pick<
    RunParts,
    "jobLedger" | "ledger" | "policy" | "clock" | "drainByMs" | "turnAlone" | "onEvent"
  >;
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
export async function beginAttempt(parts: AttemptStartParts): Promise<AttemptStart | undefined> {
  const { lease, run } = parts;
  for (;;) {
    const attempt = await (run.jobLedger === undefined ? count(parts) : openJob(parts));
    if (attempt.kind !== "open") return attempt;
    const isSuspect = startOf(attempt, lease).kind === "run-alone";
    const turn = isSuspect ? run.turnAlone?.(lease) : undefined;
    if (turn === undefined) return attempt;
    await attempt.end({ kind: "uncounted" });
    const patienceMs = run.policy.jobTimeoutMs;
    if (!(await parts.wait(turn, { patienceMs, delayMs: patienceMs }))) return undefined;
  }
}

/** How the attempt may start. */
export function startOf({ history, budgets }: Attempt, { canDeadLetter }: Lease): StartDecision {
  return decideStart({ history, budgets, canDeadLetter });
}

function count({
  lease,
  raw,
  tries,
  run,
}: AttemptStartParts): Promise<AttemptStart> | AttemptStart {
  const { ledger, clock, policy } = run;
  const job = identityOf(raw);
  const { messageId } = lease.message;
  // Each try counts as a delivery, also one that cost no receive.
  const receiveCount = lease.message.receiveCount + tries;
  const { budgets, ledgerTimeoutMs: timeoutMs } = policy;
  const onUncounted = (during: LedgerStep, thrown: unknown) => {
    const error = describeThrown(thrown);
    run.onEvent({ kind: "job.uncounted", lease: lease.ref, job, during, error });
  };
  const delivery = { job, messageId, receiveCount };
  return countAttempt(delivery, { ledger, clock, budgets, timeoutMs, onUncounted });
}

async function openJob(parts: AttemptStartParts): Promise<AttemptStart> {
  const { lease, raw, definition, signal, tries, run } = parts;
  const { messageId, receiveCount } = lease.message;
  const opening = await run.jobLedger?.open({
    ...{ job: identityOf(raw), messageId, receiveCount, retry: tries > 0 },
    surroundings: surroundingsOf({ lease, raw, signal, run }),
    guard: definition.guard === true,
    checkpoints: definition.checkpoints === true,
  });
  if (opening === undefined) return { kind: "store-down" };
  return opening.kind === "open" ? new LedgerAttempt(opening, run.policy.budgets) : opening;
}
