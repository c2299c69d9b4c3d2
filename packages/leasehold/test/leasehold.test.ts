import { type AnyJobDefinition, defineJob } from "@leasehold/job";
import type { WorkerEvent } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { createService, type Service } from "../leasehold.ts";
import { anything, mail, nowhere, type SqsHere, startSqs } from "./fixtures.ts";

function service(sqs: SqsHere, jobs: readonly AnyJobDefinition[], rest = {}): Service {
  return createService({ contract: mail, jobs, sqs: sqs.connection, ...rest });
}

/** The first event that fits, from now on. */
function nextEvent(
  { worker }: Service,
  fits: (event: WorkerEvent) => boolean,
): Promise<WorkerEvent> {
  return new Promise((resolve) => {
    worker.onEvent((event) => {
      if (fits(event)) resolve(event);
    });
  });
}

describe("createService", () => {
  test("works a job that sends a child, and drains with nothing left", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const worked: string[] = [];
    const parent = defineJob({
      type: "mail.campaign",
      schema: anything,
      handler: async (job, context) => {
        worked.push(`${job.tenantId} ${job.jobId}`);
        await context.send("first", { type: "mail.greet", payload: {}, jobId: "greet-1" });
      },
    });
    const child = defineJob({
      type: "mail.greet",
      schema: anything,
      handler: (job) => void worked.push(`${job.tenantId} ${job.jobId}`),
    });
    const running = service(sqs, [parent, child]);
    const childAcked = nextEvent(
      running,
      (event) => event.kind === "lease.acked" && event.job?.jobId === "greet-1",
    );

    await running.worker.start();
    const producer = await running.producer("mail");
    await producer.send(parent, { tenantId: "acme", jobId: "c-7", payload: {} });
    await childAcked;
    const report = await running.worker.drain({ kind: "request", by: "test" });
    running.close();

    expect(worked).toEqual(["acme c-7", "acme greet-1"]);
    expect(report).toMatchObject({ exitCode: 0, unfinished: [] });
  });

  test("claims only once queues and dependencies are there, and tells meanwhile what is not", async () => {
    await using sqs = await startSqs();
    let isTableThere = false;
    const checkDependencies = async () => {
      if (!isTableThere) throw new Error("table mail-log does not exist");
    };
    const job = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });
    const waiting = service(sqs, [job], { checkDependencies });
    const noQueue = nextEvent(waiting, (event) => event.kind === "claim.failed");
    const noTable = nextEvent(
      waiting,
      (event) => event.kind === "claim.failed" && event.message.includes("table mail-log"),
    );
    const ready = nextEvent(waiting, (event) => event.kind === "worker.ready");

    void waiting.worker.start();
    expect(await noQueue).toMatchObject({ retryable: true });
    await sqs.createQueues();
    await noTable;
    expect(waiting.worker.snapshot().phase).toBe("booting");
    isTableThere = true;
    await ready;
    await waiting.worker.drain({ kind: "request", by: "test" });
    waiting.close();
  });

  test("ends with 69 and says what is missing when its patience is over", async () => {
    const job = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });
    const lost = createService({
      ...{ contract: mail, jobs: [job], sqs: nowhere },
      options: { claimPatienceMs: 0 },
    });

    void lost.worker.start();
    const report = await lost.worker.ended;
    lost.close();

    expect(report.exitCode).toBe(69);
    expect(report.summary).toMatch(/queue mail(-dlq)? could not be looked up/);
  });

  test("knows no queue beyond the contract", async () => {
    await using sqs = await startSqs();
    const job = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });
    const idle = service(sqs, [job]);

    await expect(idle.producer("letters")).rejects.toThrow(
      "the contract of mail has no queue letters",
    );
    idle.close();
  });
});
