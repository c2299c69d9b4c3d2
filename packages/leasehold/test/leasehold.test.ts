import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnyJobDefinition, defineJob, folderPayloadStore, fromJson } from "@leasehold/job";
import type { WorkerEvent } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { createService, type Service } from "../leasehold.ts";
import { anything, mail, nowhere, type SqsHere, startSqs } from "./fixtures.ts";

function service(sqs: SqsHere, jobs: readonly AnyJobDefinition[], rest = {}): Service {
  return createService({ contract: mail, jobs, sqs: sqs.connection, ...rest });
}

/** A folder that is gone after the test. */
function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "leasehold-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
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

  test("works a message of a service that does not use the producer", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    const letters: unknown[] = [];
    const letter = defineJob({
      type: "mail.letter",
      schema: anything,
      handler: (job) => void letters.push([job.tenantId, job.jobId, job.payload]),
    });
    const identity = ({ from, id }: { from: string; id: string }) => ({
      tenantId: from,
      jobId: id,
    });
    const readers = [fromJson({ type: "mail.letter", identity })];
    const running = service(sqs, [letter], { readers });
    const acked = nextEvent(running, ({ kind }) => kind === "lease.acked");

    await running.worker.start();
    await sqs.send('{"from":"acme","id":"l-1"}');
    await acked;
    await running.worker.drain({ kind: "request", by: "test" });
    running.close();

    expect(letters).toEqual([["acme", "l-1", { from: "acme", id: "l-1" }]]);
  });

  test("works a job whose payload is too large for a message, by a store that both ends have", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    using folder = temporaryFolder();
    const letters: number[] = [];
    const letter = defineJob({
      type: "mail.letter",
      schema: anything,
      handler: (job) => void letters.push(JSON.stringify(job.payload).length),
    });
    const running = service(sqs, [letter], { claimCheck: folderPayloadStore(folder.path) });
    const acked = nextEvent(running, ({ kind }) => kind === "lease.acked");

    await running.worker.start();
    const producer = await running.producer("mail");
    await producer.send(letter, { tenantId: "acme", jobId: "l-1", payload: "x".repeat(2_000_000) });
    await acked;
    const report = await running.worker.drain({ kind: "request", by: "test" });
    running.close();

    expect(letters).toEqual([2_000_002]);
    expect(report.exitCode).toBe(0);
  });

  test("puts a job off whose payload lies in a store that it was not given", async () => {
    await using sqs = await startSqs();
    await sqs.createQueues();
    using folder = temporaryFolder();
    const letter = defineJob({
      type: "mail.letter",
      schema: anything,
      handler: () => {
        throw new Error("must not run");
      },
    });
    const sending = service(sqs, [letter], { claimCheck: folderPayloadStore(folder.path) });
    const running = service(sqs, [letter]);
    const putOff = nextEvent(running, ({ kind }) => kind === "job.unknown-type");

    await running.worker.start();
    const producer = await sending.producer("mail");
    await producer.send(letter, { tenantId: "acme", jobId: "l-1", payload: "x".repeat(2_000_000) });
    const event = await putOff;
    const report = await running.worker.drain({ kind: "request", by: "test" });
    for (const one of [sending, running]) one.close();

    expect(event).toMatchObject({
      job: { tenantId: "acme", jobId: "l-1" },
      detail: "its payload lies in a store, and this worker was given none",
      disposal: "released",
    });
    expect(report.exitCode).toBe(0);
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
