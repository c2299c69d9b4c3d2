import { describe, expect, test } from "vitest";
import { openWorld, type WorldOptions } from "../../../test/support/worker-world.ts";

async function setup(options: WorldOptions = {}) {
  const world = await openWorld(options);
  const receives = () => world.queue.calls.filter(({ kind }) => kind === "receive");
  return { ...world, receives };
}

async function started(options: WorldOptions = {}) {
  const world = await setup(options);
  void world.worker.start();
  await world.clock.settle();
  return world;
}

const DOWN = () => ({ kind: "throttled" }) as const;
const UP = () => undefined;

describe("the claims of a queue", () => {
  test("hold one long poll while the queue is idle", async () => {
    const world = await started();
    await world.clock.advance(20_000);
    expect(world.receives().map(({ entries }) => entries)).toEqual(Array(12).fill(10));
    expect(world.worker.snapshot().queues).toMatchObject([{ openPolls: 1, backoffMs: 0 }]);
  });

  test("ask only for what is free, and wait for company at most as long as the linger", async () => {
    const world = await started({
      contract: { worker: { concurrency: 4, claimLingerMs: 50 } },
      handler: ({ payload }) => world.clock.sleep(payload.n === 1 ? 10_000 : 10),
    });
    await world.send(2);
    await world.clock.advance(1_000);
    const asked = world.receives().map(({ atMs, entries }) => [atMs, entries]);
    expect(asked.slice(0, 4)).toEqual([
      [0, 4],
      [0, 4],
      [50, 3],
      [100, 3],
    ]);
  });

  test("grow more polls under load, and let them go when the queue is empty", async () => {
    const world = await started({
      contract: { worker: { concurrency: 40 } },
      handler: () => world.clock.sleep(500),
    });
    let mostPolls = 0;
    world.worker.onEvent(() => {
      mostPolls = Math.max(mostPolls, world.worker.snapshot().queues[0]?.openPolls ?? 0);
    });
    await world.send(200);
    await world.clock.advance(6_000);
    expect(world.heard("lease.acked")).toHaveLength(200);
    expect(mostPolls).toBeGreaterThan(1);
    await world.clock.advance(10_000);
    expect(world.worker.snapshot().queues).toMatchObject([{ openPolls: 1 }]);
  });

  test("need one request for ten messages", async () => {
    const world = await setup({ contract: { worker: { concurrency: 10 } } });
    await world.send(50);
    void world.worker.start();
    await world.clock.advance(1_500);
    expect(world.receives()).toHaveLength(6);
  });

  test("back off while the queue cannot be reached (bbc/sqs-consumer 490)", async () => {
    const world = await started();
    await world.clock.advance(1_000);
    world.queue.fault = DOWN;
    const before = world.receives().length;
    await world.clock.advance(600_000);

    expect(world.receives().length - before).toBeLessThan(60);
    const pausesMs = world.heard("claim.failed").map(({ retryInMs }) => retryInMs);
    expect(pausesMs.slice(0, 5)).toEqual([200, 400, 800, 1_600, 3_200]);
    expect(Math.max(...pausesMs)).toBe(15_000);
    expect(world.worker.snapshot().health).toEqual({ ready: true, alive: true, reasons: [] });

    world.queue.fault = UP;
    await world.send();
    await world.clock.advance(16_000);
    expect(world.heard("lease.acked")).toHaveLength(1);
    expect(world.worker.snapshot().slots).toEqual({ total: 10, busy: 0 });
  });

  test("never run hot, even when jitter is nothing", async () => {
    const world = await started({ random: 0, options: { claimPatienceMs: 3_600_000 } });
    world.queue.fault = DOWN;
    await world.clock.advance(60_000);
    expect(world.receives().length).toBeLessThan(80);
  });

  test("pause when polls come back empty before their time (localstack 8234 (measured))", async () => {
    const world = await started();
    world.queue.receive = async () => {
      calls += 1;
      return [];
    };
    let calls = 0;
    await world.clock.advance(60_000);
    expect(calls).toBeLessThan(25);
  });

  test("stay one after any sequence of pause and resume (bbc/sqs-consumer 234)", async () => {
    const world = await setup({ contract: { worker: { concurrency: 30 } } });
    void world.worker.start();
    void world.worker.start();
    for (let turn = 0; turn < 5; turn += 1) {
      world.worker.pause();
      world.worker.resume();
      await world.clock.advance(100);
    }
    expect(world.worker.snapshot()).toMatchObject({ phase: "ready", queues: [{ openPolls: 1 }] });
    const before = world.receives().length;
    await world.clock.advance(20_000);
    expect(world.receives().length - before).toBe(10);
  });

  test("rest while the worker is paused", async () => {
    const world = await started();
    world.worker.pause();
    await world.clock.advance(2_000);
    const before = world.receives().length;
    await world.send();
    await world.clock.advance(120_000);
    expect(world.receives().length).toBe(before);
    expect(world.worker.snapshot()).toMatchObject({ phase: "paused", health: { alive: true } });
    world.worker.resume();
    await world.clock.advance(200);
    expect(world.heard("lease.acked")).toHaveLength(1);
  });

  test("rest while more acks wait than jobs may run", async () => {
    const world = await started({ contract: { worker: { concurrency: 1 } } });
    world.queue.fault = ({ kind }) =>
      kind === "delete" ? { kind: "slow-answer", delayMs: 900 } : undefined;
    await world.send(20);
    await world.clock.advance(800);
    expect(world.heard("lease.claimed")).toHaveLength(2);
    await world.clock.advance(30_000);
    expect(world.heard("lease.acked")).toHaveLength(20);
  });

  test("leave no timer and no slot behind after a thousand polls", async () => {
    const world = await started();
    const idleTimers = world.clock.pendingTimers;
    await world.clock.advance(2_000 * 1_000);
    expect(world.receives().length).toBeGreaterThan(1_000);
    expect(world.clock.pendingTimers).toBe(idleTimers);
    void world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(2_000);
    expect(world.clock.pendingTimers).toBe(0);
  });
});

describe("the watchdog of polls", () => {
  test("takes a worker for dead whose poll never ends (bbc/sqs-consumer 241, 130, 184; nestjs-sqs 28; qdone 114)", async () => {
    const world = await started();
    world.queue.receive = () => new Promise(() => {});
    await world.clock.advance(2_000 + 16_000);
    expect(world.worker.snapshot().health.alive).toBe(true);
    await world.clock.advance(2_000);

    const { health } = world.worker.snapshot();
    expect(health.alive).toBe(false);
    expect(health.reasons[0]).toContain("a poll of jobs has been open for");
    expect(world.heard("claim.stalled")).toMatchObject([{ queue: "jobs" }]);
  });

  test("is not touched by full slots", async () => {
    const world = await started({
      contract: { worker: { concurrency: 1 } },
      handler: (_, { signal }) => world.clock.sleep(500_000, signal),
    });
    await world.send(3);
    await world.clock.advance(300_000);
    expect(world.worker.snapshot().health).toEqual({ ready: true, alive: true, reasons: [] });
  });
});

describe("a start", () => {
  test("waits for a queue that comes late", async () => {
    const world = await setup();
    world.queue.fault = DOWN;
    void world.worker.start();
    await world.clock.advance(10_000);
    expect(world.worker.snapshot()).toMatchObject({ phase: "booting", health: { ready: false } });
    world.queue.fault = UP;
    await world.clock.advance(20_000);
    expect(world.worker.snapshot()).toMatchObject({ phase: "ready", health: { ready: true } });
    expect(world.heard("worker.ready")).toMatchObject([{ queues: ["jobs"], concurrency: 10 }]);
  });

  test("ends with 69 when its queue stays out of reach", async () => {
    const world = await setup();
    world.queue.fault = DOWN;
    const started = world.worker.start();
    await world.clock.advance(30_000);
    await started;

    const report = await world.worker.ended;
    expect(report).toMatchObject({ exitCode: 69, cause: { kind: "fatal" }, unfinished: [] });
    expect(report.summary).toContain("ThrottlingException");
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("that is signalled ends with 0 and without a claim", async () => {
    const world = await setup();
    world.queue.fault = DOWN;
    void world.worker.start();
    await world.clock.advance(100);
    await world.send();
    expect(world.worker.signal("SIGTERM")).toBe("draining");
    world.queue.fault = UP;
    await world.clock.advance(5_000);
    expect(await world.worker.ended).toMatchObject({ exitCode: 0 });
    expect(world.heard("lease.claimed")).toEqual([]);
  });

  test("tells apart what passes and what does not: a queue that is gone ends the worker", async () => {
    const world = await started({ handler: () => undefined });
    await world.clock.advance(1_000);
    await world.queue.account.perform("DeleteQueue", { QueueUrl: world.queue.queueUrl });
    await world.clock.advance(60_000);
    expect(world.heard("claim.failed").at(-1)).toMatchObject({ retryable: false });
    expect(await world.worker.ended).toMatchObject({ exitCode: 70, cause: { kind: "fatal" } });
  });
});
