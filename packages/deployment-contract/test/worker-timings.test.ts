import {
  type ContractInput,
  defineContract,
  ecsSettings,
  kubernetesSettings,
  workerTimings,
} from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";

function contractOf(overrides: Partial<ContractInput> = {}) {
  return defineContract({
    preset: "drill",
    service: "billing",
    queues: [{ name: "jobs" }, { name: "orders.fifo", waitMs: 1_000, weight: 3 }],
    ...overrides,
  });
}

describe("workerTimings", () => {
  test("gives lease and worker every number that they need", () => {
    expect(workerTimings(contractOf())).toEqual({
      lease: {
        visibilityTimeoutMs: 10_000,
        extendEveryMs: 3_000,
        callTimeoutMs: 1_000,
        connectTimeoutMs: 1_000,
        leaseMarginMs: 1_000,
        clockMarginMs: 1_000,
        ackLingerMs: 100,
        maxBlockedMs: 3_000,
        maxHoldMs: 43_199_000,
        sockets: 50,
      },
      receive: [
        {
          queueName: "jobs",
          fifo: false,
          weight: 1,
          waitMs: 2_000,
          timeoutMs: 7_000,
          ackLingerMs: 100,
          maxReceiveCount: 17,
        },
        {
          queueName: "orders.fifo",
          fifo: true,
          weight: 3,
          waitMs: 1_000,
          timeoutMs: 6_000,
          ackLingerMs: 0,
          maxReceiveCount: 17,
        },
      ],
      claimLingerMs: 50,
      drain: {
        drainMs: 8_000,
        abortMs: 1_000,
        releaseMs: 2_000,
        flushMs: 1_000,
        killAfterMs: 14_000,
        exitAfterMs: 13_500,
        taperAfterMs: 16_000,
      },
      job: {
        concurrency: 10,
        holdLimit: 10,
        jobTimeoutMs: 600_000,
        countedBy: "receives",
        maxAttempts: 5,
        interruptionBudget: 10,
        crashBudget: 3,
        receiveBudget: 15,
        backoffBaseMs: 5_000,
        backoffCapMs: 900_000,
        unknownTypeGraceMs: 3_600_000,
      },
    });
  });

  test("counts the kill from SIGTERM, after the preStop hook", () => {
    const platform = { graceMs: 20_000, preStopMs: 5_000 };
    expect(workerTimings(contractOf({ platform })).drain.killAfterMs).toBe(15_000);
  });

  test("counts attempts by the ledger where there is one", () => {
    const { job } = workerTimings(contractOf({ ledger: { kind: "dynamodb" } }));
    expect(job.countedBy).toBe("ledger");
  });

  test("is frozen throughout", () => {
    const timings = workerTimings(contractOf());
    const parts = [timings, ...Object.values(timings), ...timings.receive];
    expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
  });
});

describe("ecsSettings", () => {
  test("turns the contract into ECS's seconds", () => {
    expect(ecsSettings(contractOf({ preset: "fargate-120" }))).toEqual({
      stopTimeoutSeconds: 120,
      healthCheck: { intervalSeconds: 10, timeoutSeconds: 5, retries: 3 },
      taskProtectionMinutes: 12,
      backlogPerTask: 10,
    });
  });

  test("never fails a health check earlier than the contract allows", () => {
    const liveness = { periodMs: 2_000, failures: 7 };
    expect(ecsSettings(contractOf({ platform: { liveness } })).healthCheck).toEqual({
      intervalSeconds: 5,
      timeoutSeconds: 5,
      retries: 3,
    });
  });
});

describe("kubernetesSettings", () => {
  test("turns the contract into the pod's seconds and KEDA's counts", () => {
    const contract = contractOf({
      preset: "k8s-600",
      platform: { preStopMs: 3_000 },
      worker: { concurrency: 4, expectedWorkers: 20 },
    });
    expect(kubernetesSettings(contract)).toEqual({
      terminationGracePeriodSeconds: 600,
      preStopSleepSeconds: 3,
      livenessProbe: { periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 5 },
      keda: {
        queueLength: 4,
        scaleOnInFlight: true,
        maxReplicaCount: 20,
        scaleDownPods: 1,
        scaleDownPeriodSeconds: 600,
      },
    });
  });
});
