import { type AnyJobDefinition, defineJob } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  message,
  openWorld,
  type TestHandler,
  type WorldOptions,
} from "../../../test/support/worker-world.ts";

/** A worker of several tenants and types; each job lasts ten seconds unless told otherwise. */
async function setup(
  options: WorldOptions & {
    readonly caps?: Readonly<Record<string, number>>;
    readonly holdLimit?: number;
    readonly concurrency?: number;
    readonly jobMs?: number;
  } = {},
) {
  const { caps = {}, holdLimit = 10, concurrency = 10, jobMs = 10_000, ...more } = options;
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const count = (key: string, by: number) => {
    const now = (running.get(key) ?? 0) + by;
    running.set(key, now);
    most.set(key, Math.max(most.get(key) ?? 0, now));
  };
  const work: TestHandler = async (job, { signal }) => {
    const keys = [job.tenantId, job.jobType, "all"];
    for (const key of keys) count(key, 1);
    await world.clock.sleep(jobMs, signal);
    for (const key of keys) count(key, -1);
    signal.throwIfAborted();
  };
  const schema = z.object({ n: z.number() });
  const jobs: AnyJobDefinition[] = ["test.a", "test.b"].map((type) =>
    defineJob({
      ...{ type, schema, handler: work },
      ...(caps[type] === undefined ? {} : { maxConcurrent: caps[type] }),
    }),
  );
  const world = await openWorld({
    jobs,
    contract: { worker: { concurrency, holdLimit, claimLingerMs: 0 } },
    ...more,
  });
  let n = 0;
  const send = async (jobsToSend: number, tenant: string, type = "test.a") => {
    for (let sent = 0; sent < jobsToSend; sent += 1) {
      n += 1;
      await world.queue.send(message(n, undefined, { tenant, type }));
    }
  };
  const held = () => world.worker.snapshot().held.filter(({ started }) => !started);
  const receives = () => world.queue.calls.filter(({ kind }) => kind === "receive");
  return { ...world, running, most, send, held, receives };
}

async function started(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  void world.worker.start();
  await world.clock.settle();
  return world;
}

describe("a cap on each tenant", () => {
  test("holds what is above it, without a slot, until one of that tenant ends", async () => {
    const world = await started({ options: { maxPerTenant: 2 } });
    await world.send(5, "acme");
    await world.clock.advance(3_000);
    expect(world.running.get("acme")).toBe(2);
    expect(world.held()).toHaveLength(3);
    expect(world.worker.snapshot().slots.busy).toBe(2);
    expect(world.heard("claim.held").map(({ cap }) => cap)).toEqual(["tenant", "tenant", "tenant"]);

    await world.clock.advance(60_000);
    expect(world.heard("lease.acked")).toHaveLength(5);
    expect(world.most.get("acme")).toBe(2);
    expect(world.worker.snapshot()).toMatchObject({ slots: { busy: 0 }, held: [] });
  });

  test("leaves the slots to other tenants", async () => {
    const world = await started({ options: { maxPerTenant: 2 }, concurrency: 4 });
    await world.send(5, "acme");
    await world.send(2, "bolt");
    await world.clock.advance(3_000);
    expect(world.running.get("acme")).toBe(2);
    expect(world.running.get("bolt")).toBe(2);
  });

  test("holds for as long as it takes: extended, never released, received once", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, jobMs: 300_000 });
    await world.send(4, "acme");
    await world.clock.advance(1_250_000);

    expect(world.heard("lease.acked")).toHaveLength(4);
    expect(world.heard("lease.released")).toEqual([]);
    expect(world.heard("lease.lost")).toEqual([]);
    expect(world.heard("lease.claimed").map(({ lease }) => lease.receiveCount)).toEqual([
      1, 1, 1, 1,
    ]);
  });

  test("counts what ended in whatever way: nothing stays behind", async () => {
    const world = await setup({ options: { maxPerTenant: 1 }, jobMs: 0 });
    await world.queue.send({ body: "no json" });
    await world.send(3, "acme", "test.unknown");
    await world.send(5, "acme");
    void world.worker.start();
    await world.clock.advance(5_000);
    expect(world.heard("lease.acked")).toHaveLength(5);
    expect(world.worker.snapshot().slots).toEqual({ total: 10, busy: 0 });
  });

  test("starts held jobs in the order in which they came", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, jobMs: 1_000 });
    await world.send(6, "acme");
    await world.clock.advance(12_000);
    const claimed = world.heard("lease.claimed").map(({ lease }) => lease.messageId);
    const ran = world.heard("job.started").map(({ lease }) => lease.messageId);
    expect(ran).toEqual(claimed);
  });

  test("ends a held job's lease at SQS's limit of time, for it cannot be held longer", async () => {
    const world = await started({
      options: { maxPerTenant: 1 },
      jobMs: 100_000_000,
      contract: {
        worker: { concurrency: 10, holdLimit: 10, jobTimeoutMs: 43_000_000, claimLingerMs: 0 },
      },
    });
    await world.send(2, "acme");
    await world.clock.advance(43_200_000);
    expect(world.heard("lease.released").map((event) => event.class)).toContain("hold-limit");
    expect(world.heard("lease.lost")).toEqual([]);
  }, 60_000);
});

describe("a cap on a type of job", () => {
  test("holds what is above it; the other types go on", async () => {
    const world = await started({ caps: { "test.a": 1 } });
    await world.send(4, "acme", "test.a");
    await world.send(4, "acme", "test.b");
    await world.clock.advance(3_000);
    expect(world.running.get("test.a")).toBe(1);
    expect(world.running.get("test.b")).toBe(4);
    expect(world.heard("claim.held").map(({ cap }) => cap)).toEqual(["type", "type", "type"]);
    await world.clock.advance(60_000);
    expect(world.heard("lease.acked")).toHaveLength(8);
    expect(world.most.get("test.a")).toBe(1);
  });

  test("works beside one on the tenant, also when one end makes room for two", async () => {
    const world = await started({
      options: { maxPerTenant: 1 },
      caps: { "test.a": 1 },
      concurrency: 2,
      jobMs: 1_000,
    });
    for (const [tenant, type] of [
      ["acme", "test.a"],
      ["acme", "test.b"],
      ["bolt", "test.a"],
      ["bolt", "test.b"],
      ["core", "test.a"],
      ["core", "test.b"],
    ] as const) {
      await world.send(2, tenant, type);
    }
    await world.clock.advance(30_000);
    expect(world.heard("lease.acked")).toHaveLength(12);
    expect(world.most.get("all")).toBe(2);
    expect(world.most.get("test.a")).toBe(1);
    expect(world.most.get("acme")).toBe(1);
  });
});

describe("one end that makes room for two held jobs", () => {
  const options = { options: { maxPerTenant: 1 }, caps: { "test.a": 1 } };
  const sendThree = async ({ send }: Awaited<ReturnType<typeof setup>>) => {
    await send(1, "acme", "test.a");
    await send(1, "acme", "test.b");
    await send(1, "bolt", "test.a");
  };

  test("starts one of them when there is one slot", async () => {
    const world = await started({ ...options, concurrency: 2 });
    await sendThree(world);
    await world.clock.advance(6_000);
    await world.send(1, "core", "test.b");
    await world.clock.advance(5_000);
    expect(world.running.get("all")).toBe(2);
    await world.clock.advance(40_000);
    expect(world.most.get("all")).toBe(2);
    expect(world.heard("lease.acked")).toHaveLength(4);
  });

  test("starts both beside an open poll, and holds what that brings above the slots", async () => {
    const world = await started({ ...options, concurrency: 3 });
    await sendThree(world);
    await world.clock.advance(7_000);
    // A poll on its way, which asks the queue only after the end that makes room.
    world.queue.fault = ({ kind }) =>
      kind === "receive" ? { kind: "slow-request", delayMs: 3_000 } : undefined;
    while (world.running.get("bolt") === undefined) await world.clock.advance(10);
    expect(world.running.get("all")).toBe(2);
    expect(world.worker.snapshot().queues).toMatchObject([{ openPolls: 1 }]);
    await world.send(1, "core", "test.b");
    await world.send(1, "dora", "test.b");
    await world.clock.advance(40_000);
    expect(world.most.get("all")).toBe(3);
    expect(world.heard("claim.held").map(({ cap }) => cap)).toEqual(["tenant", "type", "slots"]);
    expect(world.heard("lease.acked")).toHaveLength(5);
  });
});

describe("a full hold", () => {
  test("is asked for less and less: it never takes more than slots and hold together", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, concurrency: 8, holdLimit: 4 });
    await world.send(100, "acme");
    let mostHeld = 0;
    world.worker.onEvent(() => {
      mostHeld = Math.max(mostHeld, world.worker.snapshot().held.length);
    });
    await world.clock.advance(9_000);
    const before = world.receives().length;
    await world.clock.advance(120_000);
    expect(mostHeld).toBeLessThanOrEqual(12);
    expect(world.receives().length - before).toBeLessThan(30);
    expect(world.heard("lease.released")).toEqual([]);
  });

  test("still lets another tenant through, later", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, concurrency: 10, holdLimit: 4 });
    await world.send(8, "acme");
    await world.clock.advance(5_000);
    await world.send(1, "bolt");
    await world.clock.advance(40_000);
    expect(world.most.get("bolt")).toBe(1);
  });

  test("of no room keeps them in the slots that they came with", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, concurrency: 4, holdLimit: 0 });
    await world.send(30, "acme");
    await world.clock.advance(5_000);
    expect(world.running.get("acme")).toBe(1);
    expect(world.worker.snapshot().slots.busy).toBeLessThanOrEqual(4);
    await world.clock.advance(400_000);
    expect(world.heard("lease.acked")).toHaveLength(30);
  });
});

describe("a drain of held jobs", () => {
  test("gives them back unstarted and at once, and ends with 0", async () => {
    const world = await started({ options: { maxPerTenant: 1 }, jobMs: 2_000 });
    await world.send(4, "acme");
    await world.clock.advance(1_000);
    expect(world.held()).toHaveLength(3);
    world.worker.signal("SIGTERM");
    await world.clock.advance(6_000);

    const report = await world.worker.ended;
    expect(report).toMatchObject({ exitCode: 0, totals: { acked: 1, released: 3 } });
    expect(world.heard("lease.released").map((event) => [event.class, event.delayMs])).toEqual([
      ["unstarted", 0],
      ["unstarted", 0],
      ["unstarted", 0],
    ]);
    expect(world.heard("job.started")).toHaveLength(1);
    expect(world.clock.pendingTimers).toBe(0);
  });
});
