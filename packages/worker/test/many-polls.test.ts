import { getEventListeners } from "node:events";
import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { defineJob } from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { message, openWorld } from "../../../test/support/worker-world.ts";
import { ClaimPauses } from "../claim-pauses.ts";
import { createWorker } from "../index.ts";

/** A worker on a queue that answers every receive at once, with nothing or with an error. */
async function setup(answer: () => never[]) {
  const clock = new ManualClock();
  const model = await modelLeaseQueue({ clock });
  const calls = { receives: 0, mostListeners: 0 };
  const queue: LeaseQueue = {
    name: "jobs",
    fifo: false,
    hasDeadLetterQueue: true,
    url: model.url,
    changeVisibility: (entries) => model.changeVisibility(entries),
    delete: (handles) => model.delete(handles),
    deadLetter: (copy) => model.deadLetter(copy),
    receive: async ({ signal }) => {
      calls.receives += 1;
      const listeners = signal === undefined ? 0 : getEventListeners(signal, "abort").length;
      calls.mostListeners = Math.max(calls.mostListeners, listeners);
      return answer();
    },
  };
  const worker = createWorker({
    contract: defineContract({ preset: "drill", service: "t", queues: [{ name: "jobs" }] }),
    jobs: [defineJob({ type: "test.work", schema: z.object({}), handler: () => undefined })],
    ...{ queues: [queue], clock, random: () => 0 },
  });
  void worker.start();
  await clock.settle();
  return { clock, worker, calls };
}

describe("a hundred thousand polls", () => {
  test("leave no listener and no timer behind", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    const { clock, worker, calls } = await setup(() => []);
    const timers = clock.pendingTimers;
    // The loop is asked again by its own timer alone: time jumps from one poll to the next.
    while (calls.receives < 100_000) {
      await clock.block(5_000);
    }
    process.off("warning", onWarning);

    expect(calls.mostListeners).toBe(0);
    expect(warnings).toEqual([]);
    expect(clock.pendingTimers).toBe(timers);
    void worker.drain({ kind: "request", by: "test" });
    await clock.advance(2_000);
    expect(clock.pendingTimers).toBe(0);
  }, 60_000);
});

describe("a hot loop", () => {
  test("is impossible on instant empty answers and on instant errors", async () => {
    const empty = await setup(() => []);
    await empty.clock.advance(600_000);
    expect(empty.calls.receives).toBeLessThan(130);
    let answered = false;
    const failing = await setup(() => {
      if (answered) throw new Error("ECONNRESET");
      answered = true;
      return [];
    });
    await failing.clock.advance(600_000);
    expect(failing.calls.receives).toBeLessThan(200);
  });

  test("is impossible on instant answers whose messages may not start", async () => {
    const world = await openWorld({
      options: { maxPerTenant: 1 },
      contract: { worker: { concurrency: 20, holdLimit: 5, jobTimeoutMs: 7_200_000 } },
      handler: (_, { signal }) => world.clock.sleep(3_600_000, signal),
    });
    void world.worker.start();
    await world.send(300);
    await world.clock.advance(1_800_000);
    const receives = world.queue.calls.filter(({ kind }) => kind === "receive");
    expect(receives.length).toBeLessThan(30);
    expect(world.worker.snapshot().held.length).toBeLessThanOrEqual(25);
  });

  test("is impossible in the pauses themselves: each grows, and ends with its reason", () => {
    const pauses = new ClaimPauses(30_000);
    pauses.start(0);
    const early = { nowMs: 0, received: 0, durationMs: 0, waitMs: 2_000, wasCrowded: false };
    const after = (answer: Partial<typeof early>) => {
      pauses.answered({ ...early, ...answer });
      return pauses.leftMs(0);
    };
    expect([after({}), after({}), after({})]).toEqual([100, 200, 400]);
    const crowded = { received: 1, wasCrowded: true };
    expect([after(crowded), after(crowded)]).toEqual([1_000, 2_000]);
    expect(after({ received: 10 })).toBe(0);
    expect([after({}), after(crowded)]).toEqual([100, 1_000]);
  });
});

describe("a pause of several queues", () => {
  test("stops all of them, and each goes on with one poll (bbc/sqs-consumer 234)", async () => {
    const clock = new ManualClock();
    const queues = await Promise.all(
      ["one", "two", "three"].map((name) => modelLeaseQueue({ clock, name })),
    );
    const worker = createWorker({
      contract: defineContract({
        preset: "drill",
        service: "t",
        queues: [{ name: "one" }, { name: "two" }, { name: "three" }],
        worker: { concurrency: 6 },
      }),
      jobs: [
        defineJob({
          type: "test.work",
          schema: z.object({ n: z.number() }),
          handler: () => undefined,
        }),
      ],
      ...{ queues, clock, random: () => 0.5 },
    });
    const acked: string[] = [];
    worker.onEvent((event) => {
      if (event.kind === "lease.acked") acked.push(event.lease.queue);
    });
    const receives = () =>
      queues.flatMap(({ calls }) => calls.filter(({ kind }) => kind === "receive")).length;
    void worker.start();
    await clock.advance(5_000);

    worker.pause();
    worker.pause();
    await clock.advance(3_000);
    const before = receives();
    await Promise.all(queues.map((queue, n) => queue.send(message(n))));
    await clock.advance(600_000);
    expect(receives()).toBe(before);
    expect(worker.snapshot()).toMatchObject({ phase: "paused", health: { alive: true } });

    worker.resume();
    worker.resume();
    await worker.start();
    await clock.advance(1_000);
    expect(acked.sort()).toEqual(["one", "three", "two"]);
    await clock.advance(10_000);
    expect(worker.snapshot().queues.map(({ openPolls }) => openPolls)).toEqual([1, 1, 1]);
  });
});
