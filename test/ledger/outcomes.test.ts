import { cancelJob, createLedger } from "@leasehold/idempotency";
import { ControlOutcomeError, type JobAbortedError, park } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { TestHandler } from "../support/worker-world.ts";
import { charge, jobOf, type LedgerWorld, openLedgerWorld, startAnother } from "./ledger-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

/** What was said to SQS of messages since `from`. */
function spoken(world: LedgerWorld, from: number) {
  return world.queue.calls.slice(from).filter(({ kind }) => kind !== "receive");
}

describe("an outcome of the ledger", () => {
  test("decides, whatever the handler catches and returns", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: async (_, { once, done }) => {
        const run = () => Promise.reject(new Error("socket hang up"));
        const effect = charge(world, { run, recover: park() });
        for (let tries = 0; tries < 2; tries += 1) await once("charge", {}, effect).catch(() => {});
        return done("all is well");
      },
    });
    await world.send();
    await world.clock.advance(1_000);
    expect(world.heard("job.ended")).toMatchObject([{ outcome: "stopped" }]);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "busy", during: "run" }]);
    expect(world.queue.counts()).toMatchObject({ inFlight: 1 });
    await world.clock.advance(120_000);
    expect(world.heard("job.stopped").at(-1)).toMatchObject({ why: "parked" });
    expect(await world.store.recordOf(1)).toMatchObject({
      state: "parked",
      failures: 0,
      parked: { message: { kind: "inline", message: { queue: "jobs" } } },
    });
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("keeps a message whose handler returned although an effect is of unknown outcome", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once }) => {
        const run = () => Promise.reject(new Error("socket hang up"));
        return once("charge", {}, charge(world, { run, recover: park() })).catch(() => {});
      },
    });
    await world.send();
    await world.clock.advance(1_000);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "unsettled", during: "run" }]);
    expect(world.heard("lease.acked")).toEqual([]);
    expect(world.queue.counts()).toMatchObject({ inFlight: 1 });
  });

  test("fails a job whose handler leaves an effect open for good, and gives it up like any other", async () => {
    let runs = 0;
    const world: LedgerWorld = await openLedgerWorld({
      handler: async (_, { once }) => {
        runs += 1;
        if (runs > 1) return; // As with a checkpoint that was saved past the effect.
        const run = () => Promise.reject(new Error("socket hang up"));
        await once("charge", {}, charge(world, { run, recover: park() })).catch(() => {});
      },
      guard: true,
    });
    await world.send();
    await world.clock.advance(900_000);
    expect(world.queue.counts()).toEqual({ ...NOTHING_LEFT, deadLettered: 1 });
    expect(await world.store.recordOf(1)).toMatchObject({
      ...{ state: "dead", failures: 5, reason: { code: "attempts-exhausted" } },
      effects: { charge: { state: "unknown" } },
    });
    expect(world.heard("job.ended").at(-1)).toMatchObject({
      error: { name: "EffectLeftOpenError", message: expect.stringContaining("charge") },
    });
  });

  test("silences a worker whose job a newer delivery has", async () => {
    let reason: unknown;
    const handler: TestHandler = (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          resolve("too late");
        });
      });
    const world = await openLedgerWorld({ guard: true, handler });
    const [messageId = ""] = await world.send();
    await world.clock.advance(100);
    const other = createLedger({
      ...{ store: world.store, clock: world.clock, environment: "test", workerId: "other" },
    });
    await other.open({ job: jobOf(1), messageId, receiveCount: 2 });
    const from = world.queue.calls.length;
    await world.clock.advance(6_000);
    expect((reason as JobAbortedError).abortCause).toBe("stopped");
    expect((reason as JobAbortedError).cause).toBeInstanceOf(ControlOutcomeError);
    expect(world.heard("job.stopped")).toMatchObject([{ why: "fenced", during: "run" }]);
    // The extension that the heartbeat followed was the last word.
    expect(spoken(world, from).map(({ kind }) => kind)).toEqual(["changeVisibility"]);
    expect(world.heard("lease.lapsing")).toMatchObject([{ during: "let-go", code: "fenced" }]);
    await world.clock.advance(3_000);
    expect(spoken(world, from)).toHaveLength(1);
  });

  test.each([true, false])(
    "stops a running handler when an operator cancels its job, guarded: %s",
    async (guard) => {
      let reason: unknown;
      const world = await openLedgerWorld({
        guard,
        handler: (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              reason = signal.reason;
              resolve(undefined);
            });
          }),
      });
      await world.send();
      await world.clock.advance(100);
      const { store, clock } = world;
      await cancelJob({ store, clock, retentionMs: 86_400_000 }, jobOf(1), "asked by ops");
      await world.clock.advance(4_000);
      expect((reason as JobAbortedError).abortCause).toBe("cancelled");
      expect(world.heard("job.stopped")).toMatchObject([{ why: "cancelled" }]);
      await world.clock.advance(1_000);
      expect(world.queue.counts()).toEqual(NOTHING_LEFT);
    },
  );

  test("never lets the ledger's lease outlive the message's", async () => {
    const beats: number[] = [];
    const world = await openLedgerWorld({
      guard: true,
      handler: () => world.clock.sleep(30_000),
    });
    const { store } = world;
    const write = store.write.bind(store);
    store.write = (one) => {
      const { leaseUntilMs } = one.patch.set;
      if (one.name === "heartbeat" && leaseUntilMs !== undefined) {
        const sqsUntilMs =
          world.clock.wallMs() + (world.worker.snapshot().held[0]?.leaseRemainingMs ?? 0);
        beats.push(leaseUntilMs - sqsUntilMs);
      }
      return write(one);
    };
    await world.send();
    await world.clock.advance(29_000);
    // Extended every 3 s; each time one write at most, and never beyond.
    expect(beats.length).toBeGreaterThanOrEqual(7);
    expect(beats.length).toBeLessThanOrEqual(10);
    expect(Math.max(...beats)).toBeLessThanOrEqual(0);
  });

  test("makes the lease reach a long effect by one extension, which no usual one shortens", async () => {
    const seen: number[] = [];
    const world: LedgerWorld = await openLedgerWorld({
      handler: (_, { once, lease }) =>
        once(
          "charge",
          {},
          charge(world, {
            timeoutMs: 40_000,
            run: async () => {
              seen.push(lease.remainingMs());
              await world.clock.sleep(20_000);
              seen.push(lease.remainingMs());
              return { id: "ch_1" };
            },
          }),
        ),
    });
    await world.send();
    await world.clock.advance(25_000);
    const [atStart = 0, later = 0] = seen;
    expect(atStart).toBeGreaterThanOrEqual(42_000);
    expect(later).toBeGreaterThanOrEqual(22_000);
    const lengths = world.queue.calls.flatMap(({ visibilityTimeoutsMs }) => visibilityTimeoutsMs);
    expect(lengths).toEqual([44_000]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("lets a run that blocked its worker beyond its lease neither finish its job nor delete it", async () => {
    const unblock = Promise.withResolvers<void>();
    const world = await openLedgerWorld({
      guard: true,
      handler: async (_, { done }) => {
        await unblock.promise;
        return done("too late");
      },
    });
    const [messageId = ""] = await world.send();
    await world.clock.advance(100);
    world.worker.pause();
    const other = createLedger({
      ...{ store: world.store, clock: world.clock, environment: "test", workerId: "other" },
    });
    const second = await other.open({ job: jobOf(1), messageId, receiveCount: 2 });
    unblock.resolve();
    await world.clock.block(30_000);
    await world.clock.advance(5_000);
    expect(world.heard("job.ended")).toHaveLength(1);
    expect(world.heard("lease.lost")[0]).toMatchObject({ cause: "expired" });
    expect(world.queue.calls.filter(({ kind }) => kind === "delete")).toEqual([]);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "open", epoch: 2 });
    if (second.kind !== "open") throw new Error(`the second delivery is ${second.kind}`);
    expect(await second.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done", epoch: 2 });
  });

  test("deletes the message of a lease that was lost, once, when its job is done for good", async () => {
    const world: LedgerWorld = await openLedgerWorld({
      handler: async (_, { once }) => {
        await once("charge", {}, { ...charge(world), last: true });
        world.queue.fault = ({ kind }) =>
          kind === "changeVisibility" ? { kind: "throttled" } : undefined;
        await world.clock.sleep(15_000);
      },
    });
    await world.send();
    await world.clock.advance(500);
    world.worker.pause();
    await world.clock.advance(20_000);
    expect(world.heard("lease.lost")).toHaveLength(1);
    expect(world.heard("lease.discarded")).toEqual([
      expect.not.objectContaining({ code: expect.anything() }),
    ]);
    expect(world.queue.calls.filter(({ kind }) => kind === "delete")).toHaveLength(1);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });
});

describe("a FIFO job that is tried again on its lease", () => {
  test("is opened by the next receive although the last try had a larger number", async () => {
    const tries: number[] = [];
    const handler: TestHandler = async (_, { attempt }) => {
      tries.push(attempt);
      if (attempt < 4) throw new Error("no printer");
      if (attempt === 4 && tries.length === 4) await new Promise(() => {});
    };
    const world = await openLedgerWorld({
      handler,
      queue: { name: "jobs.fifo", maxReceiveCount: 1_000 },
      contract: { queues: [{ name: "jobs.fifo", fifo: true, maxReceiveCount: 1_000 }] },
    });
    await world.sendTo("a", 1);
    await world.clock.advance(60_000);
    expect(tries).toEqual([1, 2, 3, 4]);
    world.kill();
    await startAnother(world, handler);
    await world.clock.advance(20_000);
    expect(tries).toEqual([1, 2, 3, 4, 4]);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done", failures: 3 });
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });
});
