import { systemClock } from "@leasehold/clock";
import { defineJob } from "@leasehold/job";
import type { WorkerEvent } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import type { ExtenderChoice } from "../extender-choice.ts";
import { createService } from "../leasehold.ts";
import { anything, mail, nowhere, startSqs } from "./fixtures.ts";

const job = defineJob({ type: "mail.greet", schema: anything, handler: () => {} });

/** A module as its own URL, so that no file has to lie about. */
const moduleOf = (program: string) => `data:text/javascript,${encodeURIComponent(program)}`;

/** A service that has worked one job and drained: what its extender reported meanwhile. */
async function workOne(extender: ExtenderChoice | ((endpoint: string) => ExtenderChoice)) {
  await using sqs = await startSqs();
  await sqs.createQueues();
  const endpoint = String(sqs.connection.endpoint);
  const service = createService({
    ...{ contract: mail, jobs: [job], sqs: sqs.connection },
    extender: typeof extender === "function" ? extender(endpoint) : extender,
  });
  const failures: Extract<WorkerEvent, { kind: "lease.extender-failed" }>[] = [];
  const acked = new Promise<void>((resolve) => {
    service.worker.onEvent((event) => {
      if (event.kind === "lease.extender-failed") failures.push(event);
      if (event.kind === "lease.acked") resolve();
    });
  });
  await service.worker.start();
  const producer = await service.producer("mail");
  await producer.send(job, { tenantId: "acme", jobId: "g-1", payload: {} });
  await acked;
  const { exitCode } = await service.worker.drain({ kind: "request", by: "test" });
  service.close();
  return { exitCode, failures };
}

describe.concurrent("the choice of an extender", () => {
  test("starts a thread that has its client before anything is claimed", async () => {
    expect(await workOne("thread")).toEqual({ exitCode: 0, failures: [] });
  });

  test("lets the thread import a module for what cannot be sent to it", async () => {
    const module = (endpoint: string) => ({
      module: moduleOf(`export const sqsConnection = async () => ({
        region: "us-east-1", endpoint: "${endpoint}",
        credentials: async () => ({ accessKeyId: "a", secretAccessKey: "b" }) });`),
    });
    expect(await workOne(module)).toEqual({ exitCode: 0, failures: [] });
  });

  test("works on in this thread when the other one cannot start, and says so", async () => {
    const { exitCode, failures } = await workOne({ module: moduleOf("export {}") });
    expect(exitCode).toBe(0);
    expect(failures).toMatchObject([{ queue: "mail", code: "ThreadCrashed" }]);
    expect(failures[0]?.message).toContain("module must export sqsConnection");
  });

  test("refuses to send a thread what is no plain data, and a clock", () => {
    const parts = { contract: mail, jobs: [job], extender: "thread" } as const;
    const credentials = async () => ({ accessKeyId: "a", secretAccessKey: "b" });
    expect(() => createService({ ...parts, sqs: { ...nowhere, credentials } })).toThrow(
      "credentials is no plain data",
    );
    expect(() => createService({ ...parts, sqs: nowhere, clock: systemClock })).toThrow(
      "clock cannot be shared",
    );
  });
});
