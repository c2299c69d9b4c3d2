/** What the ECS task and service derive. */

import type { DeploymentContract } from "./deployment-contract.ts";

/** Numbers for a task definition and its service, in ECS's units, frozen. */
export interface EcsSettings {
  /** Of the worker's container. */
  readonly stopTimeoutSeconds: number;
  /** Liveness, never readiness: ECS replaces a task whose health check fails. */
  readonly healthCheck: {
    readonly intervalSeconds: number;
    readonly timeoutSeconds: number;
    readonly retries: number;
  };
  /** Absent off ECS. */
  readonly taskProtectionMinutes?: number;
  /** Messages, visible AND in flight, per task: visible ones alone end busy tasks. */
  readonly backlogPerTask: number;
}

/** ECS takes 5 to 300 s, 2 to 60 s and 1 to 10. ECS, "HealthCheck". */
const INTERVAL_SECONDS = { min: 5, max: 300 };
const RETRIES = { min: 1, max: 10 };

/** What the contract says to ECS; the health check never fails earlier than the contract's. */
export function ecsSettings({ platform, worker }: DeploymentContract): EcsSettings {
  const { periodMs, failures } = platform.liveness;
  const intervalSeconds = clamp(periodMs / 1_000, INTERVAL_SECONDS);
  const retries = clamp(Math.ceil((periodMs * failures) / (intervalSeconds * 1_000)), RETRIES);
  const { taskProtectionMinutes } = platform;
  return Object.freeze({
    stopTimeoutSeconds: platform.graceMs / 1_000,
    healthCheck: Object.freeze({ intervalSeconds, timeoutSeconds: 5, retries }),
    ...(taskProtectionMinutes === undefined ? {} : { taskProtectionMinutes }),
    backlogPerTask: worker.backlogPerWorker,
  });
}

function clamp(value: number, { min, max }: { min: number; max: number }): number {
  return Math.min(max, Math.max(min, value));
}
