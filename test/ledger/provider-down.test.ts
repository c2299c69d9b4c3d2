import { NotSentError, query } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { TestHandler, WorldOptions } from "../support/worker-world.ts";
import { charge, type LedgerWorld, openLedgerWorld, startAnother } from "./ledger-world.ts";

type Charge = ReturnType<typeof charge>;

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };
const REFUSED = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

/** A world whose provider fails as it is told to; `calls` are when it was called. */
async function setup(
  change: (working: Charge) => Charge = (working) => working,
  options: WorldOptions = {},
) {
  const calls: number[] = [];
  let failure: (() => unknown) | undefined;
  const handler: TestHandler = (_, { once }) => {
    const working = change(charge(world));
    return once(
      "charge",
      {},
      {
        ...working,
        last: true,
        run: async (call) => {
          calls.push(world.clock.wallMs());
          const thrown = failure?.();
          if (thrown !== undefined) throw thrown;
          return await working.run(call);
        },
      },
    );
  };
  const world: LedgerWorld = await openLedgerWorld({ ...options, handler });
  const fails = (next: (() => unknown) | undefined) => {
    failure = next;
  };
  return { world, calls, fails, handler };
}

describe("a provider that is down", () => {
  test("for ten minutes is called by probes alone, and costs no job an attempt or its message", async () => {
    const { world, calls, fails } = await setup();
    fails(() => new Error("the outcome is unknown", { cause: REFUSED }));
    const jobs = Array.from({ length: 50 }, (_, n) => n + 1);
    await world.send(50);
    await world.clock.advance(600_000);
    // All slots may have called before the third failure was known; then one probe a pause.
    expect(calls.length).toBeLessThanOrEqual(50 + 16);
    expect(world.charges).toEqual([]);
    const whys = new Set(world.heard("job.stopped").map(({ why }) => why));
    expect([...whys]).toEqual(["held-back"]);
    expect(world.heard("effect.circuit-opened").length).toBeGreaterThan(5);
    fails(undefined);
    await world.clock.advance(1_500_000);
    expect(world.charges).toHaveLength(50);
    expect(world.heard("effect.circuit-closed")).toHaveLength(1);
    for (const n of jobs) expect(await world.store.recordOf(n)).toMatchObject({ state: "done" });
    const failures = await Promise.all(jobs.map((n) => world.store.recordOf(n)));
    const counted = failures.reduce((sum, record) => sum + (record?.failures ?? 0), 0);
    expect(counted).toBe(0);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("never dead-letters the only job there is", async () => {
    const { world, calls, fails } = await setup();
    fails(() => REFUSED);
    await world.send();
    await world.clock.advance(3_600_000);
    expect(calls.length).toBeGreaterThan(8);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "open", failures: 0 });
    fails(undefined);
    await world.clock.advance(1_200_000);
    expect(world.charges).toHaveLength(1);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("is no failure of a job that comes to another worker each time", async () => {
    const { world, calls, fails, handler } = await setup();
    for (let n = 2; n <= 8; n += 1) await startAnother(world, handler);
    fails(() => REFUSED);
    await world.send();
    await world.clock.advance(1_800_000);
    expect(calls.length).toBeGreaterThan(6);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "open", failures: 0 });
    fails(undefined);
    await world.clock.advance(1_200_000);
    expect(world.charges).toHaveLength(1);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("does not take the last attempt of a job that has failed before", async () => {
    const { world, fails } = await setup();
    fails(() => new TypeError("cannot read properties of undefined"));
    await world.send();
    while ((await world.store.recordOf(1))?.failures !== 4) await world.clock.advance(100);
    fails(() => REFUSED);
    await world.clock.advance(600_000);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "open", failures: 4 });
    fails(undefined);
    await world.clock.advance(1_200_000);
    expect(await world.store.recordOf(1)).toMatchObject({ state: "done" });
  });

  test("keeps the jobs of a group in their order, and does not count against them", async () => {
    const fifo = { name: "jobs.fifo", maxReceiveCount: 1_000 };
    const { world, calls, fails } = await setup(undefined, {
      queue: fifo,
      contract: { queues: [{ ...fifo, fifo: true }] },
    });
    fails(() => REFUSED);
    await world.sendTo("a", 1, 2, 3);
    await world.clock.advance(600_000);
    expect(calls.length).toBeLessThan(25);
    expect(world.heard("job.stopped").every(({ why }) => why === "held-back")).toBe(true);
    fails(undefined);
    await world.clock.advance(1_500_000);
    const ended = world.heard("job.ended").filter(({ outcome }) => outcome === "succeeded");
    expect(ended.map(({ job }) => job.jobId)).toEqual(["job-1", "job-2", "job-3"]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("is down although its books can be read", async () => {
    const lookups: string[] = [];
    const { world, fails } = await setup((working) => ({
      ...working,
      recover: query(
        async ({ key }) => {
          lookups.push(key);
          return { kind: "absent" };
        },
        { settleMs: 0 },
      ),
    }));
    fails(() => new Error("the outcome is unknown", { cause: REFUSED }));
    await world.send(3);
    await world.clock.advance(3_600_000);
    expect(lookups.length).toBeGreaterThan(8);
    expect(world.heard("effect.circuit-closed")).toEqual([]);
    expect(world.queue.counts()).toMatchObject({ deadLettered: 0 });
    fails(undefined);
    await world.clock.advance(1_500_000);
    expect(world.charges).toHaveLength(3);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("is not what a bug looks like: its job fails and ends with the dead letters", async () => {
    const { world, fails } = await setup();
    fails(() => new TypeError("cannot read properties of undefined"));
    await world.send();
    await world.clock.advance(3_600_000);
    expect(world.heard("effect.circuit-opened")).toEqual([]);
    expect(world.queue.counts()).toMatchObject({ deadLettered: 1 });
  });

  test("holds back before anything is written", async () => {
    const { world, fails } = await setup();
    fails(() => REFUSED);
    await world.send();
    while (world.heard("effect.circuit-opened").length === 0) await world.clock.advance(1_000);
    await world.send(1, 2);
    await world.clock.advance(100);
    expect(world.heard("job.stopped").at(-1)).toMatchObject({
      job: { jobId: "job-2" },
      ...{ why: "held-back", during: "run" },
    });
    expect(await world.store.recordOf(2)).toBeUndefined();
  });
});

describe("a provider that limits its rate", () => {
  test("for hours by a second at a time costs no message its receives", async () => {
    const { world, calls, fails } = await setup();
    fails(() => new NotSentError("HTTP 429", { retryAfterMs: 1_000 }));
    await world.send(3);
    await world.clock.advance(3 * 3_600_000);
    expect(calls.length).toBeLessThan(120);
    expect(world.queue.counts()).toMatchObject({ deadLettered: 0 });
    fails(undefined);
    await world.clock.advance(1_500_000);
    expect(world.charges).toHaveLength(3);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("is called by no job before the time it asks for, and none of them fails", async () => {
    const { world, calls, fails } = await setup();
    fails(() => new NotSentError("HTTP 429", { retryAfterMs: 30_000 }));
    await world.send();
    await world.clock.advance(100);
    fails(undefined);
    await world.send(2, 2);
    await world.clock.advance(29_800);
    expect(calls).toHaveLength(1);
    await world.clock.advance(60_000);
    expect(Math.min(...calls.slice(1)) - (calls[0] ?? 0)).toBeGreaterThanOrEqual(30_000);
    expect(world.charges).toHaveLength(3);
    for (const n of [1, 2, 3]) {
      expect(await world.store.recordOf(n)).toMatchObject({ state: "done", failures: 0 });
    }
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });
});
