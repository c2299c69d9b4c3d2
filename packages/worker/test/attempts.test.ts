import { PermanentJobError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { openWorld, type WorldOptions } from "../../../test/support/worker-world.ts";

async function setup(options: WorldOptions = {}) {
  const world = await openWorld(options);
  void world.worker.start();
  await world.clock.settle();
  return world;
}

describe("a dead letter", () => {
  test("that its queue refuses stays away longer each time, and is copied once it can be", async () => {
    const world = await setup({
      handler: () => {
        throw new PermanentJobError("no such customer");
      },
      contract: { worker: { backoffBaseMs: 5_000, backoffCapMs: 30_000 } },
    });
    const QueueUrl = world.queue.queueUrl.replace(/jobs$/, "jobs-dlq");
    await world.queue.account.perform("DeleteQueue", { QueueUrl });
    await world.send();
    await world.clock.advance(90_000);

    expect(world.heard("lease.retried").map(({ delayMs }) => delayMs)).toEqual([
      5_000, 10_000, 20_000, 30_000, 30_000,
    ]);
    expect(world.heard("lease.dead-lettered")).toEqual([]);

    await world.queue.account.perform("CreateQueue", { QueueName: "jobs-dlq" });
    await world.clock.advance(10_000);
    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0, deadLettered: 1 });
  });
});
