import { describe, expect, test } from "vitest";
import { openWorld, type WorldOptions } from "../../../test/support/worker-world.ts";
import { PollWatch } from "../poll-watch.ts";

const WELL = { ready: true, alive: true, reasons: [] };

async function setup(options: WorldOptions = {}) {
  const world = await openWorld(options);
  void world.worker.start();
  await world.clock.settle();
  return world;
}

/** Liveness at every half second of a stretch of time. */
async function alwaysAlive(world: Awaited<ReturnType<typeof setup>>, durationMs: number) {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 500) {
    await world.clock.advance(500);
    if (!world.worker.snapshot().health.alive) return world.worker.snapshot().health.reasons;
  }
  return "always alive";
}

describe("liveness", () => {
  test("stays 200 over four ten-minute jobs, an outage of five minutes and a pause (bbc/sqs-consumer 241, 130, 184; nestjs-sqs 28; qdone 114)", async () => {
    const world = await setup({
      contract: { worker: { concurrency: 4, jobTimeoutMs: 900_000 } },
      handler: (_, { signal }) => world.clock.sleep(600_000, signal),
    });
    await world.send(4);
    expect(await alwaysAlive(world, 601_000)).toBe("always alive");
    expect(world.heard("lease.acked")).toHaveLength(4);

    world.queue.fault = ({ kind }) => (kind === "receive" ? { kind: "throttled" } : undefined);
    expect(await alwaysAlive(world, 150_000)).toBe("always alive");
    world.queue.fault = () => ({ kind: "lost-request" });
    expect(await alwaysAlive(world, 150_000)).toBe("always alive");
    world.queue.fault = () => undefined;

    world.worker.pause();
    expect(await alwaysAlive(world, 300_000)).toBe("always alive");
    world.worker.resume();
    expect(await alwaysAlive(world, 60_000)).toBe("always alive");
    expect(world.worker.snapshot().health).toEqual(WELL);
    expect(world.heard("claim.stalled")).toEqual([]);
  });

  test("is lost by a poll that never ends, not by one that is stuck behind a pause", async () => {
    const world = await setup();
    world.queue.receive = () => new Promise(() => {});
    await world.clock.advance(3_000);
    world.worker.pause();
    expect(await alwaysAlive(world, 120_000)).toBe("always alive");
    world.worker.resume();
    await world.clock.advance(60_000);
    expect(world.worker.snapshot().health.alive).toBe(false);
    expect(world.heard("claim.stalled")).toHaveLength(1);
  });

  test("is not lost by a blocked event loop, in which no poll could have ended", async () => {
    const world = await setup();
    await world.clock.advance(1_000);
    await world.clock.block(120_000);
    expect(world.worker.snapshot().health.alive).toBe(true);
    await world.clock.advance(5_000);
    expect(world.worker.snapshot().health).toEqual(WELL);
  });
});

describe("the watch of polls", () => {
  /** Looks twice a second; what is wrong at the end. */
  function watched(durationMs: number, look: { isDue?: boolean; oldestPollAtMs?: number }) {
    const watch = new PollWatch(25_000, 0);
    let said = 0;
    for (let nowMs = 500; nowMs <= durationMs; nowMs += 500) {
      const { isDue = false, oldestPollAtMs } = look;
      if (watch.look({ nowMs, oldestPollAtMs, isDue })) said += 1;
    }
    return { kind: watch.stall?.kind, said };
  }

  test("bears a poll for ten seconds beyond its request's timeout", () => {
    expect(watched(35_000, { oldestPollAtMs: 0 })).toEqual({ kind: undefined, said: 0 });
    expect(watched(35_500, { oldestPollAtMs: 0 })).toEqual({ kind: "open", said: 1 });
  });

  test("bears a poll that is due and not made for half a minute", () => {
    expect(watched(30_000, { isDue: true })).toEqual({ kind: undefined, said: 0 });
    expect(watched(30_500, { isDue: true })).toEqual({ kind: "due", said: 1 });
  });

  test("bears for ever that there is nothing to do", () => {
    expect(watched(86_400_000, {})).toEqual({ kind: undefined, said: 0 });
  });

  test("begins anew with each poll", () => {
    const watch = new PollWatch(25_000, 0);
    for (let nowMs = 500; nowMs <= 600_000; nowMs += 500) {
      const oldestPollAtMs = nowMs - (nowMs % 20_000);
      expect(watch.look({ nowMs, oldestPollAtMs, isDue: false })).toBe(false);
    }
  });
});
