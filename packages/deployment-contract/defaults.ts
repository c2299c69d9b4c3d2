/** The one table of defaults: each number's range, what it is when nobody chose it, and why. */

import type {
  LeaseContract,
  LivenessContract,
  ShutdownContract,
  WorkerContract,
} from "./deployment-contract.ts";
import {
  MAX_RECEIVE_COUNT,
  MAX_RETENTION_MS,
  MAX_TASK_PROTECTION_MINUTES,
  MAX_VISIBILITY_MS,
  MAX_WAIT_MS,
  MIN_RETENTION_MS,
} from "./limits.ts";
import type { Preset } from "./presets.ts";

/** Where a number stands; `queue` and `effect` stand for each one of their list. */
export type NumberPath =
  | `shutdown.${keyof ShutdownContract}`
  | `lease.${keyof LeaseContract}`
  | `worker.${keyof WorkerContract}`
  | `platform.${"graceMs" | "preStopMs" | "autoscalerGraceMs" | "taskProtectionMinutes"}`
  | `platform.liveness.${keyof LivenessContract}`
  | `queue.${"waitMs" | "retentionMs" | "maxReceiveCount" | "weight" | "deadLetter.retentionMs"}`
  | `ledger.${"doneRetentionMs" | "ledgerSkewMs" | "settleMs"}`
  | "effect.timeoutMs";

/** What a default may depend on. Numbers by their path, those above it in the table. */
export interface Known {
  readonly preset: Preset;
  readonly platformKind: string;
  readonly hasLedger: boolean;
  /** Whether the queue at hand is FIFO; false outside queues. */
  readonly fifo: boolean;
  /** The number at a path of the table; NaN when it was given and makes no sense. */
  readonly at: (path: NumberPath) => number;
}

/** How one number is read. */
export interface NumberRule {
  /** `seconds`: milliseconds that are whole seconds, because AWS or Kubernetes takes no others. */
  readonly unit: "ms" | "seconds" | "count" | "minutes";
  readonly min: number;
  readonly max: number;
  /** `required` has no default; `undefined` leaves the field out. */
  readonly fallback: "required" | ((known: Known) => number | undefined);
  /** Why this default. */
  readonly reason: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Range = readonly [min: number, max: number];
type Fallback = NumberRule["fallback"] | number;

/** Every number of a contract by its path, in the order in which they are read. */
export const numberRules: Readonly<Record<NumberPath, NumberRule>> = {
  "shutdown.drainMs": ms([1, DAY], ({ preset }) => preset.shutdown.drainMs, "by preset"),
  "shutdown.abortMs": ms([0, DAY], ({ preset }) => preset.shutdown.abortMs, "by preset"),
  "shutdown.releaseMs": ms([0, DAY], ({ preset }) => preset.shutdown.releaseMs, "by preset"),
  "shutdown.flushMs": ms([0, DAY], ({ preset }) => preset.shutdown.flushMs, "by preset"),
  "shutdown.marginMs": ms([0, DAY], ({ preset }) => preset.shutdown.marginMs, "by preset"),

  "lease.visibilityTimeoutMs": seconds(
    [SECOND, MAX_VISIBILITY_MS],
    ({ preset }) => preset.lease.visibilityTimeoutMs,
    "by preset: short enough to be redelivered soon, long enough to survive a failed extension",
  ),
  "lease.extendEveryMs": ms(
    [100, 6 * HOUR],
    ({ preset }) => preset.lease.extendEveryMs,
    "by preset: about a third of V, so that one extension may fail",
  ),
  "lease.callTimeoutMs": ms(
    [50, MINUTE],
    ({ preset }) => preset.lease.callTimeoutMs,
    "by preset: SQS answers in tens of milliseconds; what takes longer is better tried again",
  ),
  "lease.connectTimeoutMs": ms([0, MINUTE], SECOND, "TCP and TLS to another zone, with one retry"),
  "lease.clockMarginMs": ms([0, MINUTE], SECOND, "timers fire late under load; a second is ample"),
  "lease.leaseMarginMs": ms([0, MINUTE], SECOND, "SQS counts in whole seconds"),
  "lease.acceptedRedeliveryMs": seconds(
    [SECOND, MAX_VISIBILITY_MS],
    MINUTE,
    "a minute, what the presets cost; who raises V has to agree to the longer wait here",
  ),
  "lease.maxBlockedMs": ms(
    [0, MAX_VISIBILITY_MS],
    ({ at }) => Math.min(at("lease.extendEveryMs"), at("shutdown.drainMs")),
    "a loop that missed a whole extension period is stuck; never beyond D, or it outlives the drain",
  ),

  "worker.concurrency": count([1, 1_000], 10, "one full receive: ten messages"),
  "worker.jobTimeoutMs": ms(
    [100, MAX_VISIBILITY_MS],
    10 * MINUTE,
    "longer work should say so, and save checkpoints",
  ),
  "worker.maxAttempts": count([1, 1_000], 5, "with backoff about ten minutes of trying"),
  "worker.interruptionBudget": count([0, 1_000], 10, "more deploys than a busy day has"),
  "worker.crashBudget": count([0, 1_000], 3, "a job that killed three workers will kill a fourth"),
  "worker.backoffBaseMs": ms([0, MAX_VISIBILITY_MS], 5 * SECOND, "outlives a failover in AWS"),
  "worker.backoffCapMs": ms(
    [0, MAX_VISIBILITY_MS],
    15 * MINUTE,
    "long enough for an outage, short enough that nobody asks where the job is",
  ),
  "worker.ackLingerMs": ms([0, 10 * SECOND], 100, "ten acks in one request, unnoticed by anybody"),
  "worker.claimLingerMs": ms([0, 10 * SECOND], 50, "claim delay stays below 100 ms"),
  "worker.holdLimit": count(
    [0, 10_000],
    ({ at }) => at("worker.concurrency"),
    "N: one more full set of slots, so that a busy tenant does not stop the others",
  ),
  "worker.unknownTypeGraceMs": ms(
    [0, MAX_RETENTION_MS],
    HOUR,
    "a rolling deploy of the worker that knows the type ends within an hour",
  ),
  "worker.expectedWorkers": count([1, 100_000], 10, "a service that has grown, not yet a big one"),
  "worker.backlogPerWorker": count(
    [1, 1_000],
    ({ at }) => at("worker.concurrency"),
    "N: one worker for the jobs that one worker runs",
  ),
  "worker.sockets": count([1, 10_000], 50, "the default of the AWS SDK"),

  "platform.graceMs": seconds([SECOND, DAY], ({ preset }) => preset.platform.graceMs, "by preset"),
  "platform.preStopMs": seconds([0, HOUR], ({ preset }) => preset.platform.preStopMs, "by preset"),
  "platform.autoscalerGraceMs": seconds(
    [0, DAY],
    ({ platformKind }) => (platformKind === "kubernetes" ? 10 * MINUTE : undefined),
    "cluster-autoscaler's own default on Kubernetes; nothing of the kind elsewhere",
  ),
  "platform.taskProtectionMinutes": {
    unit: "minutes",
    min: 1,
    max: MAX_TASK_PROTECTION_MINUTES,
    fallback: ({ platformKind, at }) =>
      platformKind.startsWith("ecs-")
        ? Math.ceil((at("worker.jobTimeoutMs") + at("shutdown.drainMs")) / MINUTE)
        : undefined,
    reason: "what the longest job and a drain need; ECS only",
  },
  "platform.liveness.periodMs": seconds([SECOND, HOUR], 10 * SECOND, "the default of Kubernetes"),
  "platform.liveness.failures": count([1, 100], 3, "the default of Kubernetes and of ECS"),
  "platform.liveness.longestStallMs": ms(
    [0, HOUR],
    5 * SECOND,
    "heavy work runs in threads; a longer stall is worth naming",
  ),

  "queue.waitMs": seconds(
    [SECOND, MAX_WAIT_MS],
    ({ preset }) => preset.waitMs,
    "by preset: the longest that fits the drain, because idle polls cost money",
  ),
  "queue.retentionMs": seconds(
    [MIN_RETENTION_MS, MAX_RETENTION_MS],
    4 * DAY,
    "a long weekend; the default of SQS",
  ),
  "queue.maxReceiveCount": count(
    [1, MAX_RECEIVE_COUNT],
    ({ hasLedger, fifo, at }) =>
      hasLedger
        ? fifo
          ? MAX_RECEIVE_COUNT
          : 100
        : Math.min(
            MAX_RECEIVE_COUNT,
            Math.max(5, at("worker.maxAttempts") + at("worker.interruptionBudget") + 2),
          ),
    "a last backstop: our own budgets decide, with the reason told",
  ),
  "queue.weight": count([1, 100], 1, "all queues alike"),
  "queue.deadLetter.retentionMs": seconds(
    [MIN_RETENTION_MS, MAX_RETENTION_MS],
    MAX_RETENTION_MS,
    "as long as SQS can: somebody must find the time to look",
  ),

  "ledger.doneRetentionMs": seconds(
    [DAY, 3_650 * DAY],
    35 * DAY,
    "the longest two retentions of SQS and a week for redrives",
  ),
  "ledger.ledgerSkewMs": ms([0, 10 * MINUTE], 5 * SECOND, "NTP keeps hosts far closer"),
  "ledger.settleMs": ms([0, DAY], MINUTE, "a provider's answer that late is final"),
  "effect.timeoutMs": ms([1, MAX_VISIBILITY_MS], "required", "only the service knows its provider"),
};

function ms(range: Range, fallback: Fallback, reason: string): NumberRule {
  return rule("ms", range, fallback, reason);
}

function seconds(range: Range, fallback: Fallback, reason: string): NumberRule {
  return rule("seconds", range, fallback, reason);
}

function count(range: Range, fallback: Fallback, reason: string): NumberRule {
  return rule("count", range, fallback, reason);
}

function rule(
  unit: NumberRule["unit"],
  [min, max]: Range,
  fallback: Fallback,
  reason: string,
): NumberRule {
  return {
    unit,
    min,
    max,
    fallback: typeof fallback === "number" ? () => fallback : fallback,
    reason,
  };
}
