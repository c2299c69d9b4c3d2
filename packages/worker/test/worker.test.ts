import { describe, expect, test } from "vitest";
import { openWorld } from "./worker-world.ts";

describe("a worker", () => {
  test("claims, works and acks what is in its queue", async () => {
    const worked: number[] = [];
    const world = await openWorld({ handler: (job) => void worked.push(job.payload.n) });
    await world.send(3);

    const started = world.worker.start();
    await world.clock.advance(1_000);
    await started;

    expect(worked.sort()).toEqual([1, 2, 3]);
    expect(world.queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 });
    expect(world.worker.snapshot().totals).toMatchObject({ claimed: 3, acked: 3, lost: 0 });
    const ended = world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(3_000);
    expect(await ended).toMatchObject({ exitCode: 0, unfinished: [] });
    expect(world.clock.pendingTimers).toBe(0);
  });
});
