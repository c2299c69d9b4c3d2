import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { defineJob, type JobContext } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { message } from "../../../test/support/worker-world.ts";
import { createWorker, type WorkerEvent } from "../index.ts";

async function setup(work: (n: number, context: JobContext, clock: ManualClock) => unknown) {
  const clock = new ManualClock();
  const fast = await modelLeaseQueue({ clock, name: "fast" });
  const slow = await modelLeaseQueue({ clock, name: "slow", account: fast.account });
  const worker = createWorker({
    contract: defineContract({
      preset: "drill",
      service: "t",
      queues: [{ name: "fast" }, { name: "slow" }],
      worker: { concurrency: 4 },
    }),
    jobs: [
      defineJob({
        type: "test.work",
        schema: z.object({ n: z.number() }),
        handler: (job, context) => work(job.payload.n, context, clock),
      }),
    ],
    queues: [slow, fast],
    clock,
    random: () => 0.5,
  });
  const events: WorkerEvent[] = [];
  worker.onEvent((event) => events.push(event));
  void worker.start();
  await clock.advance(100);
  return { clock, fast, slow, worker, events };
}

describe("a worker of several queues", () => {
  test("holds one slot for an idle queue and lends the rest to the busy one", async () => {
    const { clock, fast, worker, events } = await setup((_, { signal }) =>
      clockOf().sleep(500, signal),
    );
    const clockOf = () => clock;
    expect(worker.snapshot().queues.map(({ openPolls }) => openPolls)).toEqual([1, 1]);
    await Promise.all([1, 2, 3, 4, 5, 6].map((n) => fast.send(message(n))));
    await clock.advance(5_000);
    expect(events.filter(({ kind }) => kind === "lease.acked")).toHaveLength(6);
    expect(worker.snapshot()).toMatchObject({ slots: { busy: 0 } });
  });

  test("does not let a flooded queue starve the other", async () => {
    const { clock, fast, slow, events } = await setup((_, { signal }, time) =>
      time.sleep(500, signal),
    );
    await Promise.all(Array.from({ length: 200 }, (_, n) => fast.send(message(n + 10))));
    await clock.advance(3_000);
    await slow.send(message(1));
    await clock.advance(3_000);
    const acked = events.filter((event) => event.kind === "lease.acked");
    expect(acked.filter(({ lease }) => lease.queue === "slow")).toHaveLength(1);
    expect(acked.length).toBeGreaterThan(20);
  });

  test("drains them together, with one deadline (oban-bg/oban 856)", async () => {
    const aborted: number[] = [];
    const { clock, fast, slow, worker } = await setup(async (n, { signal }, time) => {
      await time.sleep(60_000, signal);
      aborted.push(n, time.monotonicMs());
      signal.throwIfAborted();
    });
    await fast.send(message(1));
    await slow.send(message(2));
    await clock.advance(900);
    const ended = worker.drain({ kind: "signal", signal: "SIGTERM" });
    await clock.advance(12_000);

    expect(aborted).toHaveLength(4);
    expect(aborted.filter((value) => value === 9_000)).toHaveLength(2);
    expect(await ended).toMatchObject({
      exitCode: 75,
      totals: { inFlightAtStart: 2, released: 2 },
    });
    expect([fast.counts().visible, slow.counts().visible]).toEqual([1, 1]);
    const receives = [...fast.calls, ...slow.calls].filter(({ kind }) => kind === "receive");
    expect(Math.max(...receives.map(({ atMs }) => atMs))).toBeLessThan(1_000);
    expect(clock.pendingTimers).toBe(0);
  });
});
