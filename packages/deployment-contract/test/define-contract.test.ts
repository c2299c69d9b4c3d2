import {
  type ContractInput,
  defineContract,
  InvalidContractError,
  type PresetName,
  presets,
} from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";

const minimal: ContractInput = {
  preset: "default-30",
  service: "billing",
  queues: [{ name: "jobs" }],
};

function problemsOf(input: unknown): readonly string[] {
  try {
    defineContract(input as ContractInput);
  } catch (error) {
    if (error instanceof InvalidContractError) return error.problems;
    throw error;
  }
  return [];
}

describe("defineContract", () => {
  test("fills everything that is left out", () => {
    expect(defineContract(minimal)).toEqual({
      service: "billing",
      preset: "default-30",
      platform: {
        kind: "plain",
        graceMs: 30_000,
        preStopMs: 0,
        liveness: { periodMs: 10_000, failures: 3, longestStallMs: 5_000 },
      },
      shutdown: {
        drainMs: 20_000,
        abortMs: 2_000,
        releaseMs: 3_000,
        flushMs: 2_000,
        marginMs: 3_000,
      },
      lease: {
        visibilityTimeoutMs: 60_000,
        extendEveryMs: 20_000,
        callTimeoutMs: 2_000,
        connectTimeoutMs: 1_000,
        clockMarginMs: 1_000,
        leaseMarginMs: 1_000,
        acceptedRedeliveryMs: 60_000,
        maxBlockedMs: 20_000,
      },
      queues: [
        {
          name: "jobs",
          fifo: false,
          waitMs: 10_000,
          retentionMs: 345_600_000,
          maxReceiveCount: 17,
          deadLetter: { name: "jobs-dlq", retentionMs: 1_209_600_000 },
          weight: 1,
        },
      ],
      worker: {
        concurrency: 10,
        jobTimeoutMs: 600_000,
        maxAttempts: 5,
        interruptionBudget: 10,
        crashBudget: 3,
        backoffBaseMs: 5_000,
        backoffCapMs: 900_000,
        ackLingerMs: 100,
        claimLingerMs: 50,
        holdLimit: 10,
        unknownTypeGraceMs: 3_600_000,
        expectedWorkers: 10,
        backlogPerWorker: 10,
        sockets: 50,
      },
      ledger: { kind: "none" },
    });
  });

  test("lays each given number over the preset and keeps the rest", () => {
    const contract = defineContract({
      ...minimal,
      preset: "fargate-120",
      platform: { liveness: { failures: 5 } },
      shutdown: { drainMs: 90_000 },
      queues: [{ name: "jobs", deadLetter: { retentionMs: 864_000_000 } }],
    });
    expect(contract.platform).toEqual({
      kind: "ecs-fargate",
      graceMs: 120_000,
      preStopMs: 0,
      taskProtectionMinutes: 12,
      liveness: { periodMs: 10_000, failures: 5, longestStallMs: 5_000 },
    });
    expect(contract.shutdown).toEqual({
      drainMs: 90_000,
      abortMs: 5_000,
      releaseMs: 4_000,
      flushMs: 3_000,
      marginMs: 3_000,
    });
    expect(contract.queues[0]?.deadLetter).toEqual({ name: "jobs-dlq", retentionMs: 864_000_000 });
  });

  test("derives defaults from the numbers given", () => {
    const contract = defineContract({
      ...minimal,
      preset: "fargate-120",
      worker: { concurrency: 4, jobTimeoutMs: 3_600_000, maxAttempts: 2, interruptionBudget: 1 },
      lease: { extendEveryMs: 8_000 },
    });
    expect(contract.worker.holdLimit).toBe(4);
    expect(contract.worker.backlogPerWorker).toBe(4);
    expect(contract.lease.maxBlockedMs).toBe(8_000);
    expect(contract.platform.taskProtectionMinutes).toBe(62);
    expect(contract.queues[0]?.maxReceiveCount).toBe(5);
  });

  test("raises the receive count with a ledger, and names its table after the service", () => {
    const contract = defineContract({
      ...minimal,
      queues: [{ name: "jobs" }, { name: "orders.fifo" }],
      ledger: { kind: "dynamodb" },
    });
    expect(contract.queues.map(({ maxReceiveCount }) => maxReceiveCount)).toEqual([100, 1_000]);
    expect(contract.queues.map(({ fifo }) => fifo)).toEqual([false, true]);
    expect(contract.queues[1]?.deadLetter.name).toBe("orders-dlq.fifo");
    expect(contract.ledger).toEqual({
      kind: "dynamodb",
      tableName: "billing-ledger",
      doneRetentionMs: 3_024_000_000,
      ledgerSkewMs: 5_000,
      settleMs: 60_000,
      effects: [],
    });
  });

  test("bounds a pod's grace by cluster-autoscaler's default, and nothing elsewhere", () => {
    const graceOf = (preset: PresetName) =>
      defineContract({ ...minimal, preset }).platform.autoscalerGraceMs;
    expect(graceOf("k8s-600")).toBe(600_000);
    expect(graceOf("fargate-120")).toBeUndefined();
  });

  test("is frozen throughout", () => {
    const contract = defineContract({ ...minimal, ledger: { kind: "dynamodb", effects: [] } });
    const parts = [contract, contract.platform.liveness, contract.queues, contract.queues[0]];
    expect([...parts, contract.ledger].every((part) => Object.isFrozen(part))).toBe(true);
  });

  test("counts a field that is undefined as left out", () => {
    expect(problemsOf({ ...minimal, worker: undefined, shutdown: { drainMs: undefined } })).toEqual(
      [],
    );
  });

  test.each<[string, object, string]>([
    [
      "a preset misspelt",
      { preset: "fargate120" },
      'preset must be one of "default-30", "fargate-120", "k8s-120", "ec2-spot-100", "k8s-600", ' +
        '"drill", got "fargate120"; write "fargate-120"',
    ],
    [
      "an unknown section",
      { timeouts: 5 },
      "timeouts is not a field of a contract, got 5; remove it or write one of preset, service, " +
        "queues, platform, shutdown, lease, worker, ledger",
    ],
    [
      "an unknown field",
      { shutdown: { drain: 5 } },
      "shutdown.drain is not a field of a contract, got 5; remove it or write one of drainMs, " +
        "abortMs, releaseMs, flushMs, marginMs",
    ],
    [
      "an unknown field deep inside",
      { queues: [{ name: "jobs", deadLetter: { arn: "x" } }] },
      'queues[0].deadLetter.arn is not a field of a contract, got "x"; remove it or write one of ' +
        "name, retentionMs",
    ],
    [
      "NaN",
      { shutdown: { drainMs: Number.NaN } },
      "shutdown.drainMs must be a whole number of milliseconds between 1 and 86400000, got NaN; write 20000",
    ],
    [
      "infinity",
      { worker: { concurrency: Number.POSITIVE_INFINITY } },
      "worker.concurrency must be a whole number between 1 and 1000, got Infinity; write 1000",
    ],
    [
      "a text for a number",
      { lease: { extendEveryMs: "20s" } },
      'lease.extendEveryMs must be a whole number of milliseconds between 100 and 21600000, got "20s"; write 20000',
    ],
    [
      "null for a number",
      { worker: { sockets: null } },
      "worker.sockets must be a whole number between 1 and 10000, got null; write 50",
    ],
    [
      "a fraction of a second",
      { lease: { visibilityTimeoutMs: 1_500 } },
      "lease.visibilityTimeoutMs must be whole seconds in milliseconds between 1000 and 43200000, got 1500; write 2000",
    ],
    [
      "a fraction of a millisecond",
      { shutdown: { marginMs: 0.5 } },
      "shutdown.marginMs must be a whole number of milliseconds between 0 and 86400000, got 0.5; write 1",
    ],
    [
      "a negative number",
      { shutdown: { abortMs: -1 } },
      "shutdown.abortMs must be a whole number of milliseconds between 0 and 86400000, got -1; write 0",
    ],
    [
      "seconds for milliseconds",
      { platform: { graceMs: 120 } },
      "platform.graceMs must be whole seconds in milliseconds between 1000 and 86400000, got 120; write 1000",
    ],
    [
      "more minutes than ECS protects",
      { platform: { taskProtectionMinutes: 2_881 } },
      "platform.taskProtectionMinutes must be a whole number of minutes between 1 and 2880, got 2881; write 2880",
    ],
    [
      "an unknown platform",
      { platform: { kind: "fargate" } },
      'platform.kind must be one of "ecs-fargate", "ecs-ec2", "ec2-spot", "kubernetes", "plain", ' +
        'got "fargate"; write "ecs-fargate"',
    ],
    [
      "a list for a section",
      { worker: [] },
      "worker must be an object, got a list; write { concurrency: ... } or leave it out",
    ],
    [
      "no queue",
      { queues: [] },
      'queues must name at least one queue, got a list; write [{ name: "jobs" }]',
    ],
    [
      "a service without a name",
      { service: "" },
      'service must be 1 to 64 letters, digits, - and _, got ""; write a name such as "billing"',
    ],
    [
      "a queue name that SQS refuses",
      { queues: [{ name: "jobs queue" }] },
      "queues[0].name must be up to 80 letters, digits, - and _, with .fifo at the end of a FIFO queue's " +
        'name, got "jobs queue"; write a name such as "jobs"',
    ],
    [
      "a FIFO queue without its ending",
      { queues: [{ name: "jobs", fifo: true }] },
      "queues[0].fifo must be false, because the name of a FIFO queue ends in .fifo and no other does, " +
        "got true; leave it out, or change the name",
    ],
    [
      "a dead-letter queue of the other kind",
      { queues: [{ name: "jobs.fifo", deadLetter: { name: "jobs-dlq" } }] },
      'queues[0].deadLetter.name must be a FIFO queue like its source, got "jobs-dlq"; write "jobs-dlq.fifo"',
    ],
    [
      "two queues of one name",
      { queues: [{ name: "jobs" }, { name: "jobs-dlq" }] },
      'queues must have names of their own, got "jobs-dlq"; rename one of the two',
    ],
    [
      "an effect without its timeout",
      { ledger: { kind: "dynamodb", effects: [{ name: "charge" }] } },
      "ledger.effects[0].timeoutMs must be a whole number of milliseconds between 1 and 43200000, " +
        "got undefined; write 1",
    ],
    [
      "numbers of a ledger that is not there",
      { ledger: { kind: "none", settleMs: 5 } },
      'ledger.settleMs must be left out without a ledger, got 5; write kind "dynamodb" or remove it',
    ],
    [
      "a ledger of no kind",
      { ledger: { tableName: "jobs" } },
      'ledger.kind must be one of "dynamodb", "none", got undefined; write "dynamodb"',
    ],
    [
      "a table name that DynamoDB refuses",
      { ledger: { kind: "dynamodb", tableName: "a b" } },
      'ledger.tableName must be 3 to 255 letters, digits, -, _ and ., got "a b"; write a name such as "jobs-ledger"',
    ],
  ])("refuses %s, naming field, value and mend, and nothing else", (_, overrides, problem) => {
    expect(problemsOf({ ...minimal, ...overrides })).toEqual([problem]);
  });

  test.each([[undefined], [null], [7], [[]]])("refuses %s as a contract", (input) => {
    expect(problemsOf(input).join()).toContain("preset must be one of");
  });

  test("tells every problem at once, and none that only follows from another", () => {
    const problems = problemsOf({
      preset: "fargate120",
      service: 3,
      shutdown: { drainMs: "20s", drain: 1 },
      worker: { concurrency: 0 },
      queues: [{ nam: "jobs" }],
      ledger: { kind: "dynamodb" },
    });
    expect(problems.map((problem) => problem.split(" ")[0])).toEqual([
      "preset",
      "service",
      "shutdown.drain",
      "shutdown.drainMs",
      "worker.concurrency",
      "queues[0].nam",
      "queues[0].name",
    ]);
  });

  test("prints one line for each problem", () => {
    expect(() => defineContract({ ...minimal, service: "", queues: [] })).toThrow(
      'invalid deployment contract:\n- service must be 1 to 64 letters, digits, - and _, got ""; ' +
        'write a name such as "billing"\n- queues must name at least one queue',
    );
  });
});

describe("presets", () => {
  test.each<[PresetName, string]>([
    ["default-30", "30/0/10/20/2/3/2/3/60/20/2"],
    ["fargate-120", "120/0/20/105/5/4/3/3/60/20/2"],
    ["k8s-120", "120/0/20/105/5/4/3/3/60/20/2"],
    ["ec2-spot-100", "100/0/20/85/5/4/3/3/60/20/2"],
    ["k8s-600", "600/0/20/580/8/5/4/3/60/20/2"],
    ["drill", "14/0/2/8/1/2/1/2/10/3/1"],
  ])("%s is G/P/W/D/A/L/F/X/V/H/R' = %s", (name, numbers) => {
    const { platform, shutdown, lease, waitMs } = presets[name];
    const inOrder = [
      ...[platform.graceMs, platform.preStopMs, waitMs],
      ...[shutdown.drainMs, shutdown.abortMs, shutdown.releaseMs],
      ...[shutdown.flushMs, shutdown.marginMs],
      ...[lease.visibilityTimeoutMs, lease.extendEveryMs, lease.callTimeoutMs],
    ];
    expect(inOrder.map((value) => value / 1_000).join("/")).toBe(numbers);
  });
});
