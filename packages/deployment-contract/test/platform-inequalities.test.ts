import { describe, expect, test } from "vitest";
import { type Bound, expectBound, ledger } from "./support/bounds.ts";

const BOUNDS: readonly Bound[] = [
  {
    rule: "B1 violation",
    where: "the parts of the shutdown fill the grace",
    holds: { shutdown: { marginMs: 3_000 } },
    broken: { shutdown: { marginMs: 3_001 } },
    message: "P 0 + D 20 + A 2 + L 3 + F 2 + X 3.001 = 30.001 s must be at most G = 30 s",
    mend: "raise platform.graceMs to 31000, or lower shutdown.drainMs to 19999",
  },
  {
    rule: "B1 violation",
    where: "a preStop hook takes its time out of the grace, and Fargate grants no more",
    holds: { preset: "fargate-120", platform: { preStopMs: 0 } },
    broken: { preset: "fargate-120", platform: { preStopMs: 1_000 } },
    message: "P 1 + D 105 + A 5 + L 4 + F 3 + X 3 = 121 s must be at most G = 120 s",
    mend: "lower shutdown.drainMs to 104000",
  },
  {
    rule: "B1 violation",
    where: "a shorter drain would be too short for an open poll",
    holds: { platform: { graceMs: 25_000 }, shutdown: { drainMs: 15_000 } },
    broken: { platform: { graceMs: 24_000 }, shutdown: { drainMs: 15_000 } },
    message: "P 0 + D 15 + A 2 + L 3 + F 2 + X 3 = 25 s must be at most G = 24 s",
    mend: "raise platform.graceMs to 25000",
  },
  {
    rule: "B1 violation",
    where: "neither grace nor drain can give",
    holds: { preset: "fargate-120", shutdown: { drainMs: 25_000, abortMs: 85_000 } },
    broken: { preset: "fargate-120", shutdown: { drainMs: 25_000, abortMs: 85_001 } },
    message: "P 0 + D 25 + A 85.001 + L 4 + F 3 + X 3 = 120.001 s must be at most G = 120 s",
    mend: "take 0.001 s out of platform.preStopMs and the parts of shutdown",
  },
  {
    rule: "B2 violation",
    where: "the longest grace on Fargate",
    holds: { preset: "fargate-120", platform: { graceMs: 120_000 } },
    broken: { preset: "fargate-120", platform: { graceMs: 121_000 } },
    message: "G = 121 s must be between 2 and 120 s on ecs-fargate",
    mend: "set platform.graceMs to 120000, and fit the parts of shutdown into it",
  },
  {
    rule: "B2 violation",
    where: "the shortest grace on Fargate",
    holds: { platform: { kind: "ecs-fargate", graceMs: 2_000 } },
    broken: { platform: { kind: "ecs-fargate", graceMs: 1_000 } },
    message: "G = 1 s must be between 2 and 120 s on ecs-fargate",
    mend: "set platform.graceMs to 2000, and fit the parts of shutdown into it",
  },
  {
    rule: "B2 violation",
    where: "the longest grace on EC2 Spot",
    holds: { preset: "ec2-spot-100", platform: { graceMs: 100_000 } },
    broken: { preset: "ec2-spot-100", platform: { graceMs: 101_000 } },
    message: "G = 101 s must be between 0 and 100 s on ec2-spot",
    mend: "set platform.graceMs to 100000, and fit the parts of shutdown into it",
  },
  {
    rule: "B3 violation",
    where: "the drain waits for an open poll",
    holds: { shutdown: { drainMs: 15_000 } },
    broken: { shutdown: { drainMs: 14_999 } },
    message: "queue jobs: W 10 + 5 = 15 s must be at most D = 14.999 s",
    mend: "lower queues[0].waitMs to 9000, or raise shutdown.drainMs to 15000",
  },
  {
    rule: "B8 violation",
    where: "one round of release calls",
    holds: { shutdown: { releaseMs: 3_000 } },
    broken: { shutdown: { releaseMs: 2_999 } },
    message:
      "rounds 1 (calls 1 for N 10 over 50 sockets) x R' 2 + connect 1 = 3 s must be at most L = 2.999 s",
    mend: "raise shutdown.releaseMs to 3000",
  },
  {
    rule: "B8 violation",
    where: "release calls and ledger writes share the sockets",
    holds: { ...ledger({}), worker: { concurrency: 45 } },
    broken: { ...ledger({}), worker: { concurrency: 46 } },
    message:
      "rounds 2 (calls 51 for N 46 over 50 sockets) x R' 2 + connect 1 = 5 s must be at most L = 3 s",
    mend: "raise shutdown.releaseMs to 5000, or raise worker.sockets to 51",
  },
  {
    rule: "B11 warning",
    where: "the protection of a task that drains",
    holds: {
      preset: "fargate-120",
      worker: { jobTimeoutMs: 615_000 },
      platform: { taskProtectionMinutes: 12 },
    },
    broken: {
      preset: "fargate-120",
      worker: { jobTimeoutMs: 615_001 },
      platform: { taskProtectionMinutes: 12 },
    },
    message: "task protection of 12 min = 720 s must be at least J 615.001 + D 105 = 720.001 s",
    mend: "raise platform.taskProtectionMinutes to 13, or lower worker.jobTimeoutMs",
  },
  {
    rule: "B12 violation",
    where: "a node that is taken away",
    holds: { preset: "k8s-120", platform: { autoscalerGraceMs: 120_000 } },
    broken: { preset: "k8s-120", platform: { autoscalerGraceMs: 119_000 } },
    message: "the node's grace of 119 s must be at least G = 120 s",
    mend:
      "raise cluster-autoscaler's max-graceful-termination-sec, Karpenter's terminationGracePeriod and " +
      "kubelet's shutdownGracePeriod to 120 s and platform.autoscalerGraceMs to 120000, or lower platform.graceMs",
  },
  {
    rule: "B13 violation",
    where: "a stall that is normal",
    holds: { platform: { liveness: { longestStallMs: 29_999 } } },
    broken: { platform: { liveness: { longestStallMs: 30_000 } } },
    message: "liveness period 10 x 3 failures = 30 s must be above the longest stall, 30 s",
    mend:
      "raise platform.liveness.failures to 4, or move the work that stalls the event loop into a thread " +
      "and lower longestStallMs",
  },
  {
    rule: "B13 violation",
    where: "a stall between two probes",
    holds: { platform: { liveness: { failures: 3, longestStallMs: 25_000 } } },
    broken: { platform: { liveness: { failures: 2, longestStallMs: 25_000 } } },
    message: "liveness period 10 x 2 failures = 20 s must be above the longest stall, 25 s",
    mend:
      "raise platform.liveness.failures to 3, or move the work that stalls the event loop into a thread " +
      "and lower longestStallMs",
  },
  {
    rule: "B13 violation",
    where: "a loop that is blocked into the drain",
    holds: { lease: { maxBlockedMs: 20_000 } },
    broken: { lease: { maxBlockedMs: 20_001 } },
    message: "maxBlocked 20.001 s must be at most D = 20 s",
    mend: "lower lease.maxBlockedMs to 20000",
  },
];

describe("platform inequalities", () => {
  test.each(BOUNDS)("$rule: $where", (bound) => {
    expectBound(bound);
  });

  test("the table has every rule of the file", () => {
    expect(new Set(BOUNDS.map(({ rule }) => rule.split(" ")[0]))).toEqual(
      new Set(["B1", "B2", "B3", "B8", "B11", "B12", "B13"]),
    );
  });
});
