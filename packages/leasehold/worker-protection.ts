/** ECS task protection of a service, as its author chooses it, with the contract's numbers. */

import type { Clock } from "@leasehold/clock";
import type { DeploymentContract } from "@leasehold/deployment-contract";
import { durationMs, type OptionRule, type OptionRules, resolveOptions } from "@leasehold/options";
import {
  protectTask,
  type TaskProtectionOptions,
  type TaskProtectionReport,
} from "@leasehold/process-host";
import type { Logger } from "@leasehold/telemetry";
import type { Worker } from "@leasehold/worker";

/** Where the ECS agent is, and how protection follows the worker. */
export type TaskProtectionChoice = Pick<
  TaskProtectionOptions,
  "agentUri" | "idleMs" | "breatherEveryMs" | "breatherMs"
>;

/** What protection needs of a service. */
export interface WorkerProtectionParts {
  readonly worker: Pick<Worker, "onEvent">;
  readonly contract: DeploymentContract;
  readonly choice: TaskProtectionChoice;
  readonly logger: Logger;
  readonly clock?: Clock;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

const RULES: OptionRules<TaskProtectionChoice> = {
  agentUri: {
    fallback: "",
    check: (value) => (isHttp(value) ? undefined : "be the http address of the ECS agent"),
  },
  idleMs: leftOutOr(durationMs(0, { min: 0, max: HOUR_MS })),
  breatherEveryMs: leftOutOr(durationMs(0, { min: 60 * SECOND_MS, max: 48 * HOUR_MS })),
  breatherMs: leftOutOr(durationMs(0, { min: SECOND_MS, max: HOUR_MS })),
};

/**
 * Protects the worker's task from now on, and logs how it goes; returns how to stop. A contract
 * without `taskProtectionMinutes` is not one for ECS: then there is a warning and nothing else.
 *
 * @throws InvalidOptionsError when the choice makes no sense
 */
export function protectWorker(parts: WorkerProtectionParts): () => void {
  const { worker, contract, logger, clock } = parts;
  const choice = resolveChoice(parts.choice);
  const { taskProtectionMinutes: minutes } = contract.platform;
  if (minutes === undefined) {
    logger.write("warn", "protection.off", "the contract has no time for task protection", {
      mend: "choose a preset for ECS, or set platform.taskProtectionMinutes",
    });
    return () => {};
  }
  const protection = protectTask(worker, {
    ...choice,
    ...{ minutes, onReport: (report) => log(report, logger) },
    ...(clock === undefined ? {} : { clock }),
  });
  return () => protection.close();
}

/** What is left out stays out: its default is the host's, and follows from the minutes. */
function leftOutOr(rule: OptionRule<number>): OptionRule<number | undefined> {
  const check = (value: unknown) => (value === undefined ? undefined : rule.check(value));
  return { fallback: undefined, check };
}

function resolveChoice(choice: TaskProtectionChoice): TaskProtectionChoice {
  const resolved = resolveOptions<TaskProtectionChoice>("taskProtection", { ...choice }, RULES);
  const given = Object.entries(resolved).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as TaskProtectionChoice;
}

function isHttp(value: unknown): boolean {
  return typeof value === "string" && URL.parse(value)?.protocol === "http:";
}

function log(report: TaskProtectionReport, logger: Logger): void {
  const { kind, why } = report;
  switch (report.kind) {
    case "protection.set": {
      const detail = report.expiresAt === undefined ? {} : { detail: `until ${report.expiresAt}` };
      const level = why === "renewal" ? "debug" : "info";
      logger.write(level, kind, "the task is protected", { why, ...detail });
      break;
    }
    case "protection.cleared":
      logger.write("info", kind, "the task is protected no longer", { why });
      break;
    case "protection.failed": {
      const { code, message: error_message, retryInMs: retry_in_ms } = report;
      const message = `protection could not be ${PAST[report.wanted]}`;
      logger.write("warn", kind, message, { why, code, error_message, retry_in_ms });
      break;
    }
  }
}

const PAST = { set: "set", clear: "cleared" } as const;
