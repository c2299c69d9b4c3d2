import {
  assertContract,
  type ContractInput,
  ContractViolationError,
  defineContract,
  type Finding,
  formatFindings,
  type PresetName,
  presets,
  verifyContract,
} from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";

type Overrides = Partial<ContractInput>;

const DAY = 86_400_000;

function findings(overrides: Overrides): Finding[] {
  const contract = defineContract({
    preset: "default-30",
    service: "billing",
    queues: [{ name: "jobs" }],
    ...overrides,
  });
  const { violations, warnings } = verifyContract(contract);
  return [...violations, ...warnings];
}

/** What the second list has more of than the first, as "rule severity". */
function added(before: readonly Finding[], after: readonly Finding[]): string[] {
  const left = before.map(({ rule, severity }) => `${rule} ${severity}`);
  return after
    .map(({ rule, severity }) => `${rule} ${severity}`)
    .filter((name) => {
      const index = left.indexOf(name);
      if (index === -1) return true;
      left.splice(index, 1);
      return false;
    });
}

const queue = (numbers: object, name = "jobs"): Overrides => ({ queues: [{ name, ...numbers }] });
const ledger = (numbers: object): Overrides => ({ ledger: { kind: "dynamodb", ...numbers } });
const charge = (timeoutMs: number): Overrides =>
  ledger({ effects: [{ name: "charge", timeoutMs }] });

interface Row {
  readonly rule: string;
  readonly where: string;
  readonly holds: Overrides;
  readonly broken: Overrides;
  readonly message: string;
  readonly mend: string;
}

/** For each bound: the last value that holds, the next that does not, and what is then said. */
const ROWS: readonly Row[] = [
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
    rule: "B4 violation",
    where: "the first extension after a long poll",
    holds: {
      ...queue({ waitMs: 15_000 }),
      lease: { visibilityTimeoutMs: 29_000, extendEveryMs: 10_000 },
    },
    broken: {
      ...queue({ waitMs: 15_000 }),
      lease: { visibilityTimeoutMs: 29_000, extendEveryMs: 10_001 },
    },
    message: "queue jobs: V = 29 s must be at least W 15 + 1.1 x H 10.001 + R' 2 + e 1 = 29.0011 s",
    mend: "raise lease.visibilityTimeoutMs to 30000, or lower the queue's waitMs or lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a failed extension",
    holds: { lease: { visibilityTimeoutMs: 45_000 } },
    broken: { lease: { visibilityTimeoutMs: 44_000 } },
    message: "V = 44 s must be at least 2 x H 20 + 2 x R' 2 + e 1 = 45 s",
    mend: "raise lease.visibilityTimeoutMs to 45000, or lower lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a lease margin that is larger than the clock margin",
    holds: { lease: { visibilityTimeoutMs: 45_000, leaseMarginMs: 1_000 } },
    broken: { lease: { visibilityTimeoutMs: 45_000, leaseMarginMs: 1_001 } },
    message: "V = 45 s must be at least 2 x H 20 + 2 x R' 2 + e 1.001 = 45.001 s",
    mend: "raise lease.visibilityTimeoutMs to 46000, or lower lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a lease as long as SQS allows",
    holds: { lease: { visibilityTimeoutMs: 43_200_000, extendEveryMs: 21_597_500 } },
    broken: { lease: { visibilityTimeoutMs: 43_199_000, extendEveryMs: 21_597_500 } },
    message: "V = 43199 s must be at least 2 x H 21597.5 + 2 x R' 2 + e 1 = 43200 s",
    mend: "raise lease.visibilityTimeoutMs to 43200000, or lower lease.extendEveryMs",
  },
  {
    rule: "B5 violation",
    where: "the slowest receive",
    holds: { lease: { visibilityTimeoutMs: 16_000, extendEveryMs: 1_000, callTimeoutMs: 500 } },
    broken: { lease: { visibilityTimeoutMs: 15_000, extendEveryMs: 1_000, callTimeoutMs: 500 } },
    message: "queue jobs: V = 15 s must be above W 10 + 5 = 15 s",
    mend: "raise lease.visibilityTimeoutMs to 16000, or lower the queue's waitMs",
  },
  {
    rule: "B6 warning",
    where: "the agreed redelivery delay",
    holds: { lease: { acceptedRedeliveryMs: 60_000 } },
    broken: { lease: { acceptedRedeliveryMs: 59_000 } },
    message: "V = 60 s must be at most the accepted redelivery delay, 59 s",
    mend: "lower lease.visibilityTimeoutMs to 59000, or agree to the delay with lease.acceptedRedeliveryMs 60000",
  },
  {
    rule: "B7 violation",
    where: "the 12 h of SQS",
    holds: { worker: { jobTimeoutMs: 43_199_000 } },
    broken: { worker: { jobTimeoutMs: 43_199_001 } },
    message: "J = 43199.001 s must be at most 43200 - e 1 = 43199 s",
    mend: "lower worker.jobTimeoutMs to 43199000, and split longer work into several jobs",
  },
  {
    rule: "B7 violation",
    where: "ten held messages of a FIFO group",
    holds: { ...queue({}, "jobs.fifo"), worker: { jobTimeoutMs: 4_319_900 } },
    broken: { ...queue({}, "jobs.fifo"), worker: { jobTimeoutMs: 4_319_901 } },
    message:
      "queue jobs.fifo: 10 held messages x J 4319.901 = 43199.01 s must be at most 43200 - e 1 = 43199 s",
    mend: "lower worker.jobTimeoutMs to 4319900, or use a standard queue",
  },
  {
    rule: "B7 violation",
    where: "ten held messages and a margin that ten does not divide",
    holds: {
      ...queue({}, "jobs.fifo"),
      worker: { jobTimeoutMs: 4_319_899 },
      lease: { clockMarginMs: 1_005 },
    },
    broken: {
      ...queue({}, "jobs.fifo"),
      worker: { jobTimeoutMs: 4_319_900 },
      lease: { clockMarginMs: 1_005 },
    },
    message:
      "queue jobs.fifo: 10 held messages x J 4319.9 = 43199 s must be at most 43200 - e 1.005 = 43198.995 s",
    mend: "lower worker.jobTimeoutMs to 4319899, or use a standard queue",
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
    rule: "B9 violation",
    where: "a standard queue with a ledger",
    holds: { ...ledger({}), ...queue({ maxReceiveCount: 100 }) },
    broken: { ...ledger({}), ...queue({ maxReceiveCount: 99 }) },
    message: "queue jobs: maxReceiveCount 99 must be at least 100 (with a ledger)",
    mend: "raise queues[0].maxReceiveCount to 100",
  },
  {
    rule: "B9 violation",
    where: "a FIFO queue with a ledger",
    holds: { ...ledger({}), ...queue({ maxReceiveCount: 1_000 }, "jobs.fifo") },
    broken: { ...ledger({}), ...queue({ maxReceiveCount: 999 }, "jobs.fifo") },
    message: "queue jobs.fifo: maxReceiveCount 999 must be at least 1000 (with a ledger, FIFO)",
    mend: "raise queues[0].maxReceiveCount to 1000",
  },
  {
    rule: "B9 violation",
    where: "no ledger: the receives are the budget",
    holds: queue({ maxReceiveCount: 17 }),
    broken: queue({ maxReceiveCount: 16 }),
    message:
      "queue jobs: maxReceiveCount 16 must be at least 17 (maxAttempts 5 + interruptions 10 + 2, and 5)",
    mend: "raise queues[0].maxReceiveCount to 17",
  },
  {
    rule: "B9 violation",
    where: "no ledger: never below five",
    holds: { ...queue({ maxReceiveCount: 5 }), worker: { maxAttempts: 1, interruptionBudget: 0 } },
    broken: { ...queue({ maxReceiveCount: 4 }), worker: { maxAttempts: 1, interruptionBudget: 0 } },
    message:
      "queue jobs: maxReceiveCount 4 must be at least 5 (maxAttempts 1 + interruptions 0 + 2, and 5)",
    mend: "raise queues[0].maxReceiveCount to 5",
  },
  {
    rule: "B10 violation",
    where: "finished jobs outlive both retentions",
    holds: ledger({ doneRetentionMs: 2_160_000_000 }),
    broken: ledger({ doneRetentionMs: 2_159_999_000 }),
    message:
      "queue jobs: finished jobs kept 24.999988 d must be at least source 4 + DLQ 14 + slack 7 = 25 d",
    mend: "raise ledger.doneRetentionMs to 2160000000",
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
  {
    rule: "B14 violation",
    where: "a message that is retried to the end",
    holds: queue({ retentionMs: 14_401_000 }),
    broken: queue({ retentionMs: 14_400_000 }),
    message:
      "queue jobs: retention 14400 s must be above 15 retries x (V 60 + backoff 900) = 14400 s",
    mend: "raise queues[0].retentionMs to 14401000, or lower worker.backoffCapMs, maxAttempts or interruptionBudget",
  },
  {
    rule: "B14 violation",
    where: "a dead letter that is as old as its message",
    holds: queue({ retentionMs: 4 * DAY, deadLetter: { retentionMs: 4 * DAY + 1_000 } }),
    broken: queue({ retentionMs: 4 * DAY, deadLetter: { retentionMs: 4 * DAY } }),
    message: "queue jobs: DLQ retention 4 d must be above the source's, 4 d",
    mend: "raise queues[0].deadLetter.retentionMs to 1209600000",
  },
  {
    rule: "B14 warning",
    where: "a dead letter that waits for a person",
    holds: queue({ deadLetter: { retentionMs: 1_209_600_000 } }),
    broken: queue({ deadLetter: { retentionMs: 1_209_599_000 } }),
    message: "queue jobs: DLQ retention 13.999988 d should be 14 d, whatever the source's, 4 d",
    mend: "raise queues[0].deadLetter.retentionMs to 1209600000",
  },
  {
    rule: "B15 warning",
    where: "an autoscaler that plans too many jobs for a worker",
    holds: { worker: { backlogPerWorker: 10 } },
    broken: { worker: { backlogPerWorker: 11 } },
    message: "backlog per worker 11 should be N = 10",
    mend: "set worker.backlogPerWorker to 10, or leave it out",
  },
  {
    rule: "B15 warning",
    where: "an autoscaler that plans too few",
    holds: { worker: { backlogPerWorker: 10 } },
    broken: { worker: { backlogPerWorker: 9 } },
    message: "backlog per worker 9 should be N = 10",
    mend: "set worker.backlogPerWorker to 10, or leave it out",
  },
  {
    rule: "B15 warning",
    where: "the in-flight limit of SQS",
    holds: { worker: { expectedWorkers: 6_000 } },
    broken: { worker: { expectedWorkers: 6_001 } },
    message: "6001 workers x (N 10 + hold 10) = 120020 messages in flight should be at most 120000",
    mend: "lower worker.expectedWorkers to 6000, lower worker.holdLimit, or split the queue",
  },
  {
    rule: "B16 violation",
    where: "an effect within its job",
    holds: { preset: "k8s-600", ...charge(599_000) },
    broken: { preset: "k8s-600", ...charge(599_001) },
    message:
      "effect charge: timeout 599.001 + margin 1 = 600.001 s must be at most what a lease of a job " +
      "with J = 600 s can reach, 600 s",
    mend: "lower the timeoutMs of effect charge to 599000, or raise worker.jobTimeoutMs",
  },
  {
    rule: "B16 warning",
    where: "an effect within the drain",
    holds: { preset: "fargate-120", ...charge(104_000) },
    broken: { preset: "fargate-120", ...charge(104_001) },
    message: "effect charge: timeout 104.001 + margin 1 = 105.001 s should be at most D = 105 s",
    mend: "lower the timeoutMs of effect charge to 104000, or take a preset with a longer grace",
  },
];

describe("verifyContract", () => {
  test.each(ROWS)("$rule: $where", ({ rule, holds, broken, message, mend }) => {
    const before = findings(holds);
    const after = findings(broken);

    expect(added(before, after)).toEqual([rule]);
    expect(added(after, before)).toEqual([]);
    expect(before.map((finding) => finding.message)).not.toContain(message);
    const finding = after.find((candidate) => candidate.message === message);
    expect(finding?.mend).toBe(mend);
  });

  test("the table has every rule", () => {
    expect([...new Set(ROWS.map(({ rule }) => rule.split(" ")[0]))]).toEqual([
      ...["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8"],
      ...["B9", "B10", "B11", "B12", "B13", "B14", "B15", "B16"],
    ]);
  });

  test.each(Object.keys(presets) as PresetName[])("finds nothing in preset %s", (preset) => {
    const queues = [{ name: "jobs" }, { name: "orders.fifo" }];
    expect(findings({ preset, queues })).toEqual([]);
    expect(findings({ preset, queues, ledger: { kind: "dynamodb" } })).toEqual([]);
  });

  test("tells everything at once, in the order of the rules", () => {
    const found = findings({
      preset: "fargate-120",
      queues: [{ name: "jobs", maxReceiveCount: 4, retentionMs: 60_000 }, { name: "orders.fifo" }],
      platform: {
        graceMs: 125_000,
        autoscalerGraceMs: 3_000,
        liveness: { longestStallMs: 90_000 },
      },
      shutdown: { drainMs: 17_500, abortMs: 120_000, releaseMs: 1 },
      lease: { visibilityTimeoutMs: 20_000, maxBlockedMs: 90_000 },
      worker: { jobTimeoutMs: 43_200_000 },
      ...ledger({ doneRetentionMs: DAY, effects: [{ name: "charge", timeoutMs: 43_200_000 }] }),
    });
    expect(found.map(({ rule, severity }) => `${rule} ${severity}`)).toEqual([
      ...["B1 violation", "B2 violation", "B3 violation", "B3 violation"],
      ...["B4 violation", "B4 violation", "B4 violation", "B5 violation", "B5 violation"],
      ...["B7 violation", "B7 violation", "B8 violation", "B9 violation", "B10 violation"],
      ...["B10 violation", "B12 violation", "B13 violation", "B13 violation"],
      ...["B14 violation", "B16 violation", "B16 warning"],
    ]);
  });

  test("gives the numbers as data, in the unit of the message", () => {
    const [finding] = findings({ shutdown: { marginMs: 4_500 } });
    expect(finding?.numbers).toEqual({ P: 0, D: 20, A: 2, L: 3, F: 2, X: 4.5, G: 30 });
  });

  test("asks a standard queue alone for dead letters that outlive their source", () => {
    const twoWeeks = { retentionMs: 14 * DAY };
    expect(added([], findings(queue(twoWeeks)))).toEqual(["B14 violation"]);
    expect(findings(queue(twoWeeks, "jobs.fifo"))).toEqual([]);
  });
});

describe("assertContract", () => {
  const broken = defineContract({
    preset: "default-30",
    service: "billing",
    queues: [{ name: "jobs" }],
    shutdown: { marginMs: 4_000 },
    lease: { acceptedRedeliveryMs: 30_000, maxBlockedMs: 21_000 },
  });

  test("refuses a contract that contradicts itself, and prints each violation", () => {
    const refuse = () => assertContract(broken);
    expect(refuse).toThrow(ContractViolationError);
    expect(refuse).toThrow(
      [
        "the deployment contract of billing contradicts itself, 2 violations:",
        "B1 violation: P 0 + D 20 + A 2 + L 3 + F 2 + X 4 = 31 s must be at most G = 30 s",
        "    why:  SIGKILL would come before the leases are given back and the acks are sent: " +
          "finished jobs run twice, unfinished ones hide until their lease expires",
        "    mend: raise platform.graceMs to 31000, or lower shutdown.drainMs to 19000",
        "B13 violation: maxBlocked 21 s must be at most D = 20 s",
        "    why:  a blocked handler would keep its leases beyond the drain deadline and die with them",
        "    mend: lower lease.maxBlockedMs to 20000",
      ].join("\n"),
    );
  });

  test("carries the findings and a stable code", () => {
    try {
      assertContract(broken);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof ContractViolationError)) throw error;
      expect(error.code).toBe("CONTRACT_VIOLATED");
      expect(error.findings.map(({ rule }) => rule)).toEqual(["B1", "B13"]);
    }
  });

  test("lets warnings pass", () => {
    const { warnings } = verifyContract(broken);
    expect(formatFindings(warnings)).toBe(
      "B6 warning: V = 60 s must be at most the accepted redelivery delay, 30 s\n" +
        "    why:  after a SIGKILL the job hides until its lease expires, longer than was agreed to\n" +
        "    mend: lower lease.visibilityTimeoutMs to 30000, or agree to the delay with lease.acceptedRedeliveryMs 60000",
    );
    const costly = defineContract({
      preset: "default-30",
      service: "billing",
      queues: [{ name: "jobs" }],
      lease: { acceptedRedeliveryMs: 30_000 },
    });
    expect(() => assertContract(costly)).not.toThrow();
  });
});
