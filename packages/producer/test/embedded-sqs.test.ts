import { createProducer } from "@leasehold/producer";
import { describe, expect, test } from "vitest";
import { idOf, openQueue, read } from "./queue-site.ts";

describe("a producer and SQS", () => {
  test("carry a job from the sender to the reader unchanged", async () => {
    const { producer, receive } = await openQueue();
    const payload = { note: "Größe 🧾 \uffff", list: [1, null, { deep: true }] };

    const result = await producer.send("receipt.render", {
      tenantId: "Größe GmbH",
      jobId: "inv 7/v2",
      payload,
    });
    const [message = {}] = await receive();

    expect(result).toEqual({ kind: "sent", jobId: "inv 7/v2", messageId: message.MessageId });
    expect(read(message)).toEqual({
      kind: "job",
      job: {
        tenantId: "Größe GmbH",
        jobId: "inv 7/v2",
        jobType: "receipt.render",
        createdAtMs: Date.UTC(2026, 0, 1),
        payload,
      },
    });
    expect(message.Attributes?.["MessageGroupId"]).toMatch(/^Gr__e_GmbH~[0-9a-f]{64}$/);
  });

  test("carry many jobs, none lost and none twice", async () => {
    const { producer, receiveAll } = await openQueue();
    const jobs = Array.from({ length: 137 }, (_, index) => ({
      type: "a.b",
      tenantId: `t${index % 7}`,
      jobId: `j${index}`,
      payload: index,
    }));

    const results = await producer.sendMany(jobs);
    const messages = await receiveAll();

    expect(results.every(({ kind }) => kind === "sent")).toBe(true);
    expect(new Set(results.map((result) => "messageId" in result && result.messageId)).size).toBe(
      137,
    );
    expect(messages.map(idOf).sort()).toEqual(jobs.map(({ jobId }) => jobId).sort());
  });

  test("agree on what 1 MiB is", async () => {
    const { producer, receive } = await openQueue();
    const fit = (bytes: number) =>
      producer.send("a.b", { tenantId: "t", jobId: "j", payload: "x".repeat(bytes) });
    // Envelope and attributes of this job take 148 bytes, the quotes of the payload among them.
    const largest = 1_048_576 - 148;

    expect(await fit(largest + 1)).toMatchObject({
      kind: "refused",
      error: { code: "JOB_TOO_LARGE", bytes: 1_048_577 },
    });
    expect(await fit(largest)).toMatchObject({ kind: "sent" });
    expect((await receive()).map(idOf)).toEqual(["j"]);
  });

  test("split large jobs over calls", async () => {
    const { producer, receiveAll } = await openQueue();
    const jobs = Array.from({ length: 7 }, (_, index) => ({
      type: "a.b",
      tenantId: "t",
      jobId: `j${index}`,
      payload: "x".repeat(400_000),
    }));

    const results = await producer.sendMany(jobs);

    expect(results.map(({ kind }) => kind)).toEqual(Array(7).fill("sent"));
    expect((await receiveAll()).map(idOf).sort()).toEqual(jobs.map(({ jobId }) => jobId));
  });

  test("hold a delayed job back, and only that one", async () => {
    const { clock, producer, receive } = await openQueue();
    const job = { type: "a.b", tenantId: "t", payload: null };

    await producer.sendMany([
      { ...job, jobId: "now" },
      { ...job, jobId: "later", delayMs: 1_500 },
    ]);

    expect((await receive()).map(idOf)).toEqual(["now"]);
    await clock.advance(1_999);
    expect(await receive()).toEqual([]);
    await clock.advance(1);
    expect((await receive()).map(idOf)).toEqual(["later"]);
  });

  test("keep the order of a FIFO group, and take a job only once", async () => {
    const { producer, receiveAll } = await openQueue("jobs.fifo", { FifoQueue: "true" });
    const jobs = Array.from({ length: 12 }, (_, index) => ({
      type: "a.b",
      tenantId: index % 3 === 0 ? "acme" : "globex",
      jobId: `j${String(index).padStart(2, "0")}`,
      payload: index,
    }));

    const first = await producer.sendMany(jobs);
    const again = await producer.sendMany(jobs);
    const ids = (await receiveAll()).map(idOf);

    expect(again).toEqual(first);
    expect(ids).toHaveLength(12);
    for (const tenant of ["acme", "globex"]) {
      const sent = jobs.filter(({ tenantId }) => tenantId === tenant).map(({ jobId }) => jobId);
      expect(ids.filter((id) => sent.includes(id))).toEqual(sent);
    }
  });

  test("do not take the same id of two tenants for the same job on FIFO", async () => {
    const { producer, receiveAll } = await openQueue("jobs.fifo", { FifoQueue: "true" });
    const job = { type: "a.b", jobId: "inv-7", payload: null };

    await producer.sendMany([
      { ...job, tenantId: "acme" },
      { ...job, tenantId: "globex" },
    ]);

    expect(await receiveAll()).toHaveLength(2);
  });

  test("say that a queue is gone", async () => {
    const { clock, client, queueUrl } = await openQueue();
    const producer = createProducer({ client, queueUrl: `${queueUrl}-gone`, clock });

    expect(await producer.send("a.b", { tenantId: "t", jobId: "j", payload: 1 })).toMatchObject({
      kind: "refused",
      error: { code: "SEND_FAILED", faultCode: "QueueDoesNotExist", attempts: 1 },
    });
  });
});
