/** What the worker derives: lease, receive, drain, abort, release, flush, and budgets of a job. */

import type { DeploymentContract } from "./deployment-contract.ts";
import { MAX_VISIBILITY_MS, RECEIVE_REQUEST_EXTRA_MS } from "./limits.ts";

/** Everything a worker process takes from its contract, frozen. */
export interface WorkerTimings {
  readonly lease: LeaseTimings;
  /** One entry per queue, in the contract's order. */
  readonly receive: readonly ReceiveTimings[];
  /** How long free slots wait for company before a poll asks for them. */
  readonly claimLingerMs: number;
  readonly drain: DrainTimings;
  readonly job: JobTimings;
}

/** How leases are kept; meanings as in `LeaseContract`. */
export interface LeaseTimings {
  readonly visibilityTimeoutMs: number;
  readonly extendEveryMs: number;
  /** Hard timeout of one extend, release or delete call. */
  readonly callTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly leaseMarginMs: number;
  readonly clockMarginMs: number;
  /** On standard queues; `ReceiveTimings` has it for each queue. */
  readonly ackLingerMs: number;
  readonly maxBlockedMs: number;
  /** The longest that one message may be held, from its receive request: 12 h less the margin. */
  readonly maxHoldMs: number;
  readonly sockets: number;
}

/** How one queue is polled. */
export interface ReceiveTimings {
  readonly queueName: string;
  readonly fifo: boolean;
  readonly weight: number;
  /** Long poll. */
  readonly waitMs: number;
  /** Timeout of the receive request: the wait and 5 s. */
  readonly timeoutMs: number;
  /** 0 on FIFO, where the next message of the group waits for the delete. */
  readonly ackLingerMs: number;
  /** Receives after which SQS itself dead-letters. */
  readonly maxReceiveCount: number;
}

/**
 * The parts of a shutdown. Lengths, save `...AfterMs`, which count from SIGTERM.
 */
export interface DrainTimings {
  /** Jobs may end by themselves. */
  readonly drainMs: number;
  /** From a handler's abort until it has stopped. */
  readonly abortMs: number;
  /** The calls that give leases back. */
  readonly releaseMs: number;
  readonly flushMs: number;
  /** When the platform sends SIGKILL: G - P. */
  readonly killAfterMs: number;
  /** When the process exits by itself, whatever still runs: half a second before the kill. */
  readonly exitAfterMs: number;
  /** Where the taper lets leases end: two seconds after the kill. */
  readonly taperAfterMs: number;
}

/** How much work is taken on, and how often a job may fail. */
export interface JobTimings {
  readonly concurrency: number;
  readonly holdLimit: number;
  readonly jobTimeoutMs: number;
  /**
   * `ledger`: failures, interruptions and crashes each have their own budget. `receives`: there is
   * no ledger, so one budget of receives stands for all, and releases and double deliveries spend it.
   */
  readonly countedBy: "ledger" | "receives";
  readonly maxAttempts: number;
  readonly interruptionBudget: number;
  readonly crashBudget: number;
  /** Receives after which a job is dead-lettered when receives are counted. */
  readonly receiveBudget: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  readonly unknownTypeGraceMs: number;
}

/** What lease and worker take from the contract. */
export function workerTimings(contract: DeploymentContract): WorkerTimings {
  return Object.freeze({
    lease: leaseTimings(contract),
    receive: Object.freeze(receiveTimings(contract)),
    claimLingerMs: contract.worker.claimLingerMs,
    drain: drainTimings(contract),
    job: jobTimings(contract),
  });
}

function leaseTimings({ lease, worker }: DeploymentContract): LeaseTimings {
  return Object.freeze({
    visibilityTimeoutMs: lease.visibilityTimeoutMs,
    extendEveryMs: lease.extendEveryMs,
    callTimeoutMs: lease.callTimeoutMs,
    connectTimeoutMs: lease.connectTimeoutMs,
    leaseMarginMs: lease.leaseMarginMs,
    clockMarginMs: lease.clockMarginMs,
    ackLingerMs: worker.ackLingerMs,
    maxBlockedMs: lease.maxBlockedMs,
    maxHoldMs: MAX_VISIBILITY_MS - lease.clockMarginMs,
    sockets: worker.sockets,
  });
}

function receiveTimings({ queues, worker }: DeploymentContract): ReceiveTimings[] {
  return queues.map(({ name, fifo, weight, waitMs, maxReceiveCount }) =>
    Object.freeze({
      queueName: name,
      fifo,
      weight,
      waitMs,
      timeoutMs: waitMs + RECEIVE_REQUEST_EXTRA_MS,
      ackLingerMs: fifo ? 0 : worker.ackLingerMs,
      maxReceiveCount,
    }),
  );
}

function drainTimings({ platform, shutdown }: DeploymentContract): DrainTimings {
  const killAfterMs = platform.graceMs - platform.preStopMs;
  return Object.freeze({
    drainMs: shutdown.drainMs,
    abortMs: shutdown.abortMs,
    releaseMs: shutdown.releaseMs,
    flushMs: shutdown.flushMs,
    killAfterMs,
    exitAfterMs: Math.max(0, killAfterMs - 500),
    taperAfterMs: killAfterMs + 2_000,
  });
}

function jobTimings({ worker, ledger }: DeploymentContract): JobTimings {
  return Object.freeze({
    concurrency: worker.concurrency,
    holdLimit: worker.holdLimit,
    jobTimeoutMs: worker.jobTimeoutMs,
    countedBy: ledger.kind === "none" ? "receives" : "ledger",
    maxAttempts: worker.maxAttempts,
    interruptionBudget: worker.interruptionBudget,
    crashBudget: worker.crashBudget,
    receiveBudget: worker.maxAttempts + worker.interruptionBudget,
    backoffBaseMs: worker.backoffBaseMs,
    backoffCapMs: worker.backoffCapMs,
    unknownTypeGraceMs: worker.unknownTypeGraceMs,
  });
}
