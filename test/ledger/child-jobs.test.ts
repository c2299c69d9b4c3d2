import {
  type JobSender,
  parseJobId,
  parseJobType,
  parseTenantId,
  writeEnvelope,
} from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { charge, type LedgerWorld, openLedgerWorld } from "./ledger-world.ts";

type Sent = Parameters<JobSender["sendJob"]>[0];

/** Jobs that charge and then ask for a receipt; `fails` says how often sending goes wrong at first. */
async function setup({ fails = 0, charges = true } = {}) {
  const sent: Sent[] = [];
  /** Messages that were still there at each send. */
  const unackedAtSend: number[] = [];
  let failures = fails;
  const world: LedgerWorld = await openLedgerWorld({
    sender: {
      sendJob: async (job) => {
        unackedAtSend.push(world.queue.counts().inFlight);
        failures -= 1;
        if (failures >= 0) throw new Error("the queue did not take it");
        sent.push(job);
        return { jobId: job.jobId, messageId: `m-${sent.length}` };
      },
    },
    handler: async (_, { once, send }) => {
      if (charges) await once("charge", {}, charge(world));
      await send("receipt", { type: "receipt.render", payload: { invoice: 7 } });
    },
  });
  return { world, sent, unackedAtSend };
}

describe("a child job", () => {
  test("is sent while its parent's message is still held, which is acked after that", async () => {
    const { world, sent, unackedAtSend } = await setup();
    await world.send();
    await world.clock.advance(5_000);
    expect(unackedAtSend).toEqual([1]);
    expect(sent).toMatchObject([{ tenantId: "acme", type: "receipt.render" }]);
    expect(world.queue.counts()).toMatchObject({ inFlight: 0, visible: 0 });
  });

  test.each([true, false])(
    "that cannot be sent keeps its parent's message, effects: %s",
    async (charges) => {
      const { world, sent } = await setup({ fails: 2, charges });
      await world.send();
      await world.clock.advance(2_000);
      expect(world.heard("lease.acked")).toEqual([]);
      await world.clock.advance(120_000);
      expect(sent).toHaveLength(1);
      expect(world.charges).toHaveLength(charges ? 1 : 0);
      expect(world.queue.counts()).toEqual({
        ...{ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 },
      });
    },
  );

  test("that is sent twice has its effects once, and is on the queue before its parent is off it", async () => {
    const CHILD = 100;
    const started: number[] = [];
    const left: string[] = [];
    const world: LedgerWorld = await openLedgerWorld({
      sender: {
        sendJob: async ({ tenantId, jobId, type, payload }) => {
          const createdAtMs = world.clock.wallMs();
          const jobType = parseJobType(type);
          const { body, attributes } = writeEnvelope({
            ...{ tenantId: parseTenantId(tenantId), jobId: parseJobId(jobId) },
            ...{ jobType, payload, createdAtMs },
          });
          left.push("child sent");
          return { jobId, messageId: await world.queue.send({ body, attributes }) };
        },
      },
      handler: async ({ payload }, { once, send }) => {
        started.push(payload.n);
        await once("charge", {}, { ...charge(world), last: payload.n === CHILD });
        if (payload.n === CHILD) return;
        await send("receipt", { type: "test.work", payload: { n: CHILD } });
      },
    });
    world.worker.onEvent(({ kind }) => {
      if (kind === "lease.acked") left.push("acked");
    });
    world.store.isDown = (write) => write?.name === "finish";
    await world.send();
    await world.clock.advance(70_000);
    world.store.isDown = () => false;
    await world.clock.advance(120_000);

    expect(started.filter((n) => n === 1).length).toBeGreaterThan(1);
    expect(started.filter((n) => n === CHILD).length).toBeGreaterThan(1);
    expect(world.charges).toHaveLength(2);
    expect(left[0]).toBe("child sent");
    expect(world.queue.counts()).toEqual({
      ...{ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 },
    });
  });

  test("has the same identity however often its parent sends it", async () => {
    const { world, sent } = await setup();
    world.store.isDown = (write) => write?.name === "finish";
    await world.send();
    await world.clock.advance(70_000);
    world.store.isDown = () => false;
    await world.clock.advance(120_000);
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent.map(({ jobId }) => jobId)).size).toBe(1);
    expect(world.charges).toHaveLength(1);
  });
});
