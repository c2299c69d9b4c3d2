import type { AttemptLedger } from "@leasehold/job";
import { defineJob } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { type AttemptsChoice, openAttemptLedger } from "../attempts-choice.ts";
import { createService } from "../leasehold.ts";
import { anything, mail, startSqs } from "./fixtures.ts";

describe("the choice of what counts attempts", () => {
  test("is no ledger unless one is wanted", () => {
    expect(openAttemptLedger()).toBeUndefined();
    expect(openAttemptLedger("receive-count")).toBeUndefined();
  });

  test("takes a ledger as it is, and makes one for each service that counts in memory", () => {
    const ledger: AttemptLedger = { open: () => new Promise(() => {}) };
    expect(openAttemptLedger(ledger)).toBe(ledger);
    expect(openAttemptLedger("memory")).not.toBe(openAttemptLedger("memory"));
  });

  test.each<[unknown, string]>([
    ["dynamodb", 'got "dynamodb"'],
    [5, "got number"],
    [null, "got object"],
    [{}, "got object"],
  ])("refuses %j", (attempts, given) => {
    expect(() => openAttemptLedger(attempts as AttemptsChoice)).toThrow(
      `attempts must be "receive-count", "memory" or a ledger, ${given}`,
    );
  });

  test("reaches the worker: its ledger is asked for every job", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const asked = Promise.withResolvers<string>();
    const attempts: AttemptLedger = {
      open: ({ job }) => {
        asked.resolve(job.jobId);
        throw new Error("no table");
      },
    };
    const job = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });
    const service = createService({
      ...{ contract: mail, jobs: [job], sqs: sqs.connection, attempts },
    });
    await service.worker.start();
    const producer = await service.producer("mail");
    await producer.send(job, { tenantId: "acme", jobId: "g-1", payload: {} });

    expect(await asked.promise).toBe("g-1");
    await service.worker.drain({ kind: "request", by: "test" });
    service.close();
  });
});
