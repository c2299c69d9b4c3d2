/** What leases, runs and the gate take from a contract's timings and from the jobs. Pure. */

import type {
  JobTimings,
  LeaseTimings,
  ReceiveTimings,
  WorkerTimings,
} from "@leasehold/deployment-contract";
import type { AnyJobDefinition } from "@leasehold/job";
import {
  type AttemptBudgets,
  type RunParts,
  type RunPolicy,
  receiveBudgets,
  receiveCountLedger,
} from "@leasehold/job-run";
import type { LeaseOptions } from "@leasehold/lease";
import type { ClaimLoopParts } from "./claim-loop.ts";
import type { WorkerParts } from "./worker-parts.ts";

/** Visibility timeouts for which a job may wait on its lease: a drain gives it back at any time. */
const IN_PLACE_TIMEOUTS = 5;

/** How the leases of one queue are kept. */
export function leaseOptionsOf(lease: LeaseTimings, receive: ReceiveTimings): LeaseOptions {
  return {
    visibilityTimeoutMs: lease.visibilityTimeoutMs,
    extendEveryMs: lease.extendEveryMs,
    callTimeoutMs: lease.callTimeoutMs,
    leaseMarginMs: lease.leaseMarginMs,
    clockMarginMs: lease.clockMarginMs,
    ackLingerMs: receive.ackLingerMs,
    maxHoldMs: lease.maxHoldMs,
  };
}

/** How one queue is polled. */
export function pollTimingsOf({
  weight,
  waitMs,
  timeoutMs,
}: ReceiveTimings): Pick<ClaimLoopParts, "weight" | "waitMs" | "requestTimeoutMs"> {
  return { weight, waitMs, requestTimeoutMs: timeoutMs };
}

/** What counts attempts, and the policy that suits it. */
export function countingOf(
  timings: Pick<WorkerTimings, "job" | "lease">,
  { attemptLedger, ledger: jobLedger }: Pick<WorkerParts, "attemptLedger" | "ledger">,
): Pick<RunParts, "ledger" | "jobLedger" | "heartbeatEveryMs" | "policy"> {
  const hasLedger = attemptLedger !== undefined || jobLedger !== undefined;
  return {
    ledger: attemptLedger ?? receiveCountLedger,
    ...(jobLedger === undefined ? {} : { jobLedger }),
    heartbeatEveryMs: timings.lease.extendEveryMs,
    policy: runPolicyOf(timings, hasLedger),
  };
}

function runPolicyOf(
  { job, lease }: Pick<WorkerTimings, "job" | "lease">,
  hasLedger: boolean,
): RunPolicy {
  return {
    jobTimeoutMs: job.jobTimeoutMs,
    budgets: hasLedger ? budgetsOf(job) : receiveBudgets(job.receiveBudget),
    // It is asked while a message is held, and in a drain: no longer than a call about the lease.
    ledgerTimeoutMs: lease.callTimeoutMs,
    backoff: { baseMs: job.backoffBaseMs, capMs: job.backoffCapMs },
    unknownTypeGraceMs: job.unknownTypeGraceMs,
  };
}

function budgetsOf({ maxAttempts, interruptionBudget, crashBudget }: JobTimings): AttemptBudgets {
  return { failures: maxAttempts, interruptions: interruptionBudget, crashes: crashBudget };
}

/** How long a job waits on its lease for its next try, with its group behind it: FIFO only. */
export function inPlaceOf(
  { visibilityTimeoutMs }: LeaseTimings,
  { fifo }: ReceiveTimings,
): Pick<RunParts, "inPlaceMs"> {
  return fifo ? { inPlaceMs: IN_PLACE_TIMEOUTS * visibilityTimeoutMs } : {};
}

/** The types of jobs that say how many of them may run at the same time. */
export function capsOf(jobs: readonly AnyJobDefinition[]): ReadonlyMap<string, number> {
  return new Map(
    jobs.flatMap(({ type, maxConcurrent }) =>
      maxConcurrent === undefined ? [] : [[type, maxConcurrent] as const],
    ),
  );
}
