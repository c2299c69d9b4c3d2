import { describe, expect, test } from "vitest";
import { openWorld } from "../../../test/support/worker-world.ts";

/** A worker whose memory the test says; a tenth of it is left free for the guard. */
async function setup(usedBytes: number | undefined) {
  const memory = { usedBytes, limitBytes: 1_000 };
  const world = await openWorld({
    memoryUse: () =>
      memory.usedBytes === undefined
        ? undefined
        : { usedBytes: memory.usedBytes, limitBytes: 1_000 },
    handler: () => world.clock.sleep(100),
  });
  void world.worker.start();
  await world.clock.settle();
  const receives = () => world.queue.calls.filter(({ kind }) => kind === "receive").length;
  return { ...world, memory, receives };
}

describe("the memory guard", () => {
  test("claims nothing above its share, says so once, and goes on when memory is enough", async () => {
    const world = await setup(500);
    await world.clock.advance(1_000);
    world.memory.usedBytes = 901;
    await world.clock.advance(3_000);
    const before = world.receives();
    await world.send(3);
    await world.clock.advance(600_000);
    expect(world.receives()).toBe(before);
    expect(world.heard("claim.memory-short")).toEqual([
      { kind: "claim.memory-short", usedBytes: 901, limitBytes: 1_000, share: 0.9 },
    ]);

    world.memory.usedBytes = 850;
    await world.clock.advance(1_000);
    expect(world.heard("claim.memory-eased")).toMatchObject([
      { usedBytes: 850, limitBytes: 1_000 },
    ]);
    expect(world.heard("lease.acked")).toHaveLength(3);
  });

  test("does not flutter around its share", async () => {
    const world = await setup(901);
    await world.clock.advance(1_000);
    for (let turn = 0; turn < 20; turn += 1) {
      world.memory.usedBytes = turn % 2 === 0 ? 890 : 910;
      await world.clock.advance(1_000);
    }
    expect(world.heard("claim.memory-short")).toHaveLength(1);
    expect(world.heard("claim.memory-eased")).toEqual([]);
  });

  test("does not touch liveness, and lets jobs that run go on", async () => {
    const world = await setup(500);
    await world.send(2);
    await world.clock.advance(50);
    world.memory.usedBytes = 990;
    await world.clock.advance(3_600_000);
    expect(world.heard("lease.acked")).toHaveLength(2);
    expect(world.worker.snapshot().health).toEqual({ ready: true, alive: true, reasons: [] });
  });

  test("knows nothing without a limit, and stops nothing when its reader fails", async () => {
    const world = await setup(undefined);
    await world.send();
    await world.clock.advance(1_000);
    expect(world.heard("lease.acked")).toHaveLength(1);
    const failing = await openWorld({
      memoryUse: () => {
        throw new Error("no such file");
      },
    });
    void failing.worker.start();
    await failing.send();
    await failing.clock.advance(1_000);
    expect(failing.heard("lease.acked")).toHaveLength(1);
  });
});
