import { PermanentJobError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { charge, jobOf, type LedgerWorld, openLedgerWorld, startAnother } from "./ledger-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

describe("a worker with a job ledger", () => {
  test("asks it nothing for a job without effects that succeeds at once", async () => {
    const world = await openLedgerWorld();
    await world.send(3);
    await world.clock.advance(1_000);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
    expect([world.store.writes, world.store.reads]).toEqual([[], 0]);
  });

  test("makes two writes for a job whose only effect is its last", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (job, { once }) =>
        once("charge", { n: job.payload.n }, { ...charge(world), last: true }),
    });
    await world.send();
    await world.clock.advance(1_000);
    expect(world.charges).toHaveLength(1);
    expect(world.store.writes).toEqual(["open-new", "complete-and-finish"]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("acks a duplicate of a job that is done after one request", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => once("charge", {}, { ...charge(world), last: true }),
    });
    await world.send();
    await world.clock.advance(1_000);
    const before = world.store.writes.length;
    await world.send();
    await world.clock.advance(1_000);
    expect([world.store.writes.length - before, world.store.reads]).toEqual([1, 0]);
    expect(world.charges).toHaveLength(1);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "done", during: "run" }]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("does no effect again that was recorded before its worker was killed", async () => {
    const handler: Parameters<typeof startAnother>[1] = async (_, { once, receiveCount }) => {
      await once("charge", {}, charge(world));
      if (receiveCount === 1) await new Promise(() => {});
      await once("mail", {}, charge(world));
    };
    const world: LedgerWorld = await openLedgerWorld({ handler });
    await world.send();
    await world.clock.advance(500);
    world.kill();
    const other = await startAnother(world, handler);
    await world.clock.advance(20_000);
    expect(world.charges).toHaveLength(2);
    expect(world.store.writes).toEqual([
      ...["open-new", "complete"],
      ...["open-new", "open-next", "start", "complete", "finish"],
    ]);
    expect(other.events.filter(({ kind }) => kind === "job.started")).toMatchObject([
      { attempt: 1, lease: { receiveCount: 2 } },
    ]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("sends an effect of unknown outcome again under the same key after a kill", async () => {
    const keys: string[] = [];
    const handler: Parameters<typeof startAnother>[1] = async (_, { once, receiveCount }) => {
      const run = async ({ key }: { key: string }) => {
        keys.push(key);
        if (receiveCount === 1) await new Promise(() => {});
        return { id: "ch_1" };
      };
      await once("charge", {}, charge(world, { run }));
    };
    const world: LedgerWorld = await openLedgerWorld({ handler });
    await world.send();
    await world.clock.advance(500);
    world.kill();
    await startAnother(world, handler);
    await world.clock.advance(40_000);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done" });
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("goes on from the checkpoint that another worker saved, its interruptions forgotten", async () => {
    const loaded: unknown[] = [];
    const handler: Parameters<typeof startAnother>[1] = async (_, { checkpoint, receiveCount }) => {
      loaded.push(checkpoint.load());
      if (receiveCount === 1) {
        await checkpoint.save({ page: 7 });
        await new Promise(() => {});
      }
    };
    const world = await openLedgerWorld({ handler, checkpoints: true });
    await world.send();
    await world.clock.advance(500);
    expect(await world.store.recordOf(1)).toMatchObject({ interruptions: 0 });
    world.kill();
    await startAnother(world, handler);
    await world.clock.advance(20_000);
    expect(loaded).toEqual([undefined, { page: 7 }]);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done" });
  });

  test("leaves a job alone that another message of it is being worked on for", async () => {
    const world = await openLedgerWorld({
      guard: true,
      handler: (_, { lease }) => world.clock.sleep(lease.remainingMs() - 4_000),
    });
    await world.send();
    await world.clock.settle();
    await world.send();
    await world.clock.advance(1_000);
    expect(world.heard("job.started")).toHaveLength(1);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "busy", during: "open" }]);
    await world.clock.advance(60_000);
    expect(world.heard("job.ended")).toMatchObject([{ outcome: "succeeded" }]);
    expect(world.heard("job.stopped").at(-1)).toMatchObject({ why: "done", during: "open" });
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("dead-letters a job that comes again although it was given up, with the same reason", async () => {
    const world = await openLedgerWorld({
      guard: true,
      handler: () => {
        throw new PermanentJobError("no such customer");
      },
    });
    await world.send();
    await world.clock.advance(1_000);
    expect(await world.store.recordOf(1)).toMatchObject({
      ...jobOf(1),
      state: "dead",
      reason: { code: "permanent" },
    });
    expect(world.queue.counts()).toEqual({ ...NOTHING_LEFT, deadLettered: 1 });
  });
});
