import { systemClock } from "@leasehold/clock";
import { ContractViolationError, defineContract } from "@leasehold/deployment-contract";
import { defineJob } from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorker, type WorkerParts } from "../index.ts";

const job = defineJob({ type: "test.work", schema: z.object({}), handler: () => undefined });

function queue(name: string, fifo = false): LeaseQueue {
  const never = () => Promise.reject(new Error("nothing is called before the start"));
  return {
    ...{ name, fifo, hasDeadLetterQueue: true },
    ...{ receive: never, changeVisibility: never, delete: never, deadLetter: never },
  };
}

function parts(changes: Partial<WorkerParts> = {}): WorkerParts {
  const contract = defineContract({ preset: "drill", service: "t", queues: [{ name: "jobs" }] });
  return { contract, jobs: [job], queues: [queue("jobs")], clock: systemClock, ...changes };
}

function problemsOf(changes: Partial<WorkerParts>): readonly string[] {
  try {
    createWorker(parts(changes));
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.problems;
    throw error;
  }
  return [];
}

describe("createWorker", () => {
  test("takes parts that fit, and calls nothing", () => {
    expect(createWorker(parts()).snapshot()).toMatchObject({ phase: "booting", service: "t" });
  });

  test("refuses a contract that contradicts itself, with every violation (chatwoot 15886; alphagov/email-alert-api 697)", () => {
    const contract = defineContract({
      preset: "drill",
      service: "t",
      queues: [{ name: "jobs", waitMs: 20_000 }],
      platform: { graceMs: 5_000 },
    });
    const refuse = () => createWorker(parts({ contract }));
    expect(refuse).toThrow(ContractViolationError);
    expect(refuse).toThrow(/B1[\s\S]*B3/);
  });

  test("names every queue and job that does not fit", () => {
    const problems = problemsOf({
      queues: [queue("other"), queue("other"), queue("third.fifo", true)],
      jobs: [job, job],
    });
    expect(problems).toEqual([
      "queue other is given twice",
      "queue jobs stands in the contract and is not given",
      "queue other is given and does not stand in the contract",
      "queue other is given and does not stand in the contract",
      "queue third.fifo is given and does not stand in the contract",
      "job test.work is defined twice",
    ]);
  });

  test("refuses a queue that keeps an order, or none, unlike in the contract", () => {
    expect(problemsOf({ queues: [queue("jobs", true)] })).toEqual([
      "queue jobs is FIFO, unlike in the contract",
    ]);
    const contract = defineContract({
      preset: "drill",
      service: "t",
      queues: [{ name: "a.fifo" }],
    });
    expect(problemsOf({ contract, queues: [queue("a.fifo")] })).toEqual([
      "queue a.fifo is not FIFO, unlike in the contract",
    ]);
    expect(problemsOf({ contract, queues: [queue("a.fifo", true)] })).toEqual([]);
  });

  test("refuses fewer slots than queues, because each idle queue's poll holds one", () => {
    const contract = defineContract({
      preset: "drill",
      service: "t",
      queues: [{ name: "one" }, { name: "two" }],
      worker: { concurrency: 1 },
    });
    expect(problemsOf({ contract, queues: [queue("one"), queue("two")] })).toEqual([
      "worker.concurrency must be at least 2, one for each queue's poll, got 1",
    ]);
  });

  test("refuses to be made without a job", () => {
    expect(problemsOf({ jobs: [] })).toEqual(["no job is given, so nothing could be worked"]);
  });

  test("refuses a cap on a type that nothing could keep", () => {
    expect(problemsOf({ jobs: [{ ...job, maxConcurrent: 0 }] })).toEqual([
      "maxConcurrent of job test.work must be a whole number between 1 and 1000, got 0",
    ]);
  });

  test("refuses options that it does not know", () => {
    const options = { exitZeroOnReleased: true } as object;
    expect(problemsOf({ options })).toEqual([
      "exitZeroOnReleased is not a worker option; known are exitZeroOnRelease, claimPatienceMs, " +
        "maxPerTenant, memoryGuardShare",
    ]);
  });

  test("refuses jobs that need a ledger which is not there, and switches that are none", () => {
    const guarded = { ...job, type: "test.guarded", guard: true };
    const resumed = { ...job, type: "test.resumed", checkpoints: true };
    const odd = { ...job, type: "test.odd", guard: "yes" as unknown as boolean };
    expect(problemsOf({ jobs: [guarded, resumed, odd] })).toEqual([
      "job test.guarded has guard: true, which needs a job ledger: give the worker a ledger",
      "job test.resumed has checkpoints: true, which needs a job ledger: give the worker a ledger",
      "guard of job test.odd must be true or false, got yes",
    ]);
  });
});
