import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchPayload, folderPayloadStore, type PayloadStore } from "@leasehold/job";
import { createProducer } from "@leasehold/producer";
import { afterEach, describe, expect, test } from "vitest";
import { openQueue, read } from "./queue-site.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function setup(name?: string, attributes?: Record<string, string>) {
  const site = await openQueue(name, attributes);
  const folder = await mkdtemp(join(tmpdir(), "claim-check-"));
  folders.push(folder);
  const store = folderPayloadStore(folder);
  const producer = createProducer({ ...site, claimCheck: store });
  /** As a worker gets at it. */
  const receivePayloads = async () => {
    const readings = (await site.receiveAll()).map(read);
    return Promise.all(
      readings.map((reading) =>
        reading.kind === "job" ? fetchPayload(reading.job, store) : reading,
      ),
    );
  };
  const stored = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => path.includes(".json"));
  return { ...site, store, producer, receivePayloads, stored };
}

const large = { text: "Größe 🧾 ".repeat(120_000) };

describe("a claim check", () => {
  test("carries a payload that no message takes from end to end", async () => {
    const { producer, receivePayloads, stored } = await setup();

    const result = await producer.send("receipt.render", {
      tenantId: "../Größe GmbH",
      jobId: "inv-7",
      payload: large,
    });

    expect(result).toMatchObject({ kind: "sent", jobId: "inv-7" });
    expect(await receivePayloads()).toEqual([{ kind: "ok", payload: large }]);
    expect(await stored()).toEqual([
      expect.stringMatching(/^___Gr__e_GmbH~[0-9a-f]{16}\/receipt\.render\/[0-9a-f]{64}\.json$/),
    ]);
  });

  test("leaves a payload that fits in its message", async () => {
    const { producer, receivePayloads, stored } = await setup();

    await producer.send("a.b", { tenantId: "t", jobId: "j", payload: "x".repeat(1_000_000) });

    expect(await receivePayloads()).toEqual([{ kind: "ok", payload: "x".repeat(1_000_000) }]);
    expect(await stored()).toEqual([]);
  });

  test("lets no job go out whose payload the store did not take, and holds up no other", async () => {
    const site = await setup();
    const { promise, reject } = Promise.withResolvers<never>();
    const broken: PayloadStore = { ...site.store, put: () => promise };
    const producer = createProducer({ ...site, claimCheck: broken });
    const job = { type: "a.b", tenantId: "t" };

    const failing = producer.sendMany([{ ...job, jobId: "large", payload: large }]);
    const [small] = await producer.sendMany([{ ...job, jobId: "small", payload: 1 }]);
    reject(new Error("disk full"));

    expect(small).toMatchObject({ kind: "sent" });
    expect(await failing).toMatchObject([
      {
        kind: "failed",
        jobId: "large",
        maybeSent: false,
        error: { faultCode: "PayloadStoreFailed", cause: { message: "disk full" } },
      },
    ]);
    expect((await site.receiveAll()).map(({ Body }) => JSON.parse(Body ?? "").job_id)).toEqual([
      "small",
    ]);
  });

  test("keeps the order of a FIFO group", async () => {
    const { producer, receivePayloads } = await setup("jobs.fifo", { FifoQueue: "true" });
    const job = { type: "a.b", tenantId: "t" };

    await producer.sendMany([
      { ...job, jobId: "1", payload: large },
      { ...job, jobId: "2", payload: "second" },
    ]);

    expect(await receivePayloads()).toEqual([
      { kind: "ok", payload: large },
      { kind: "ok", payload: "second" },
    ]);
  });

  test("is named as the way out where there is none", async () => {
    const { producer } = await openQueue();

    expect(await producer.send("a.b", { tenantId: "t", jobId: "j", payload: large })).toMatchObject(
      {
        kind: "refused",
        error: {
          code: "JOB_TOO_LARGE",
          bytes: 1_560_157,
          message: expect.stringMatching(/takes 1560157 bytes .* SQS takes 1048576: .* claimCheck/),
        },
      },
    );
  });
});
