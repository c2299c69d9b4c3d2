import { describe, expect, test } from "vitest";
import { type LeaseSetupOptions, setupLeases } from "./lease-setup.ts";

const inline: LeaseSetupOptions = {};
const thread: LeaseSetupOptions = { thread: { maxBlockedMs: 60_000 } };

/** What each change of visibility asked for, in seconds. */
function asked({ queue }: Awaited<ReturnType<typeof setupLeases>>): readonly number[] {
  return queue.calls.flatMap(({ visibilityTimeoutsMs }) => visibilityTimeoutsMs);
}

describe.each([
  ["inline", inline],
  ["in a thread", thread],
])("a lease that must reach far, extended %s", (_, options) => {
  test("reaches by one extension, which the usual ones leave as it is until they no longer shorten it", async () => {
    const setup = await setupLeases(options);
    const lease = await setup.claimOne();
    lease.start();
    const reached = lease.reach(300_000);
    await setup.clock.advance(100);
    expect(await reached).toBe(true);
    expect(lease.remainingMs()).toBeGreaterThanOrEqual(300_000);
    await setup.clock.advance(240_000);
    expect(asked(setup)).toEqual([303_000]);
    await setup.clock.advance(200_000);
    expect(setup.heard("lease.lost")).toEqual([]);
    expect(new Set(asked(setup).slice(1))).toEqual(new Set([60_000]));
    expect(lease.remainingMs()).toBeGreaterThan(30_000);
  });

  test("makes no call when it reaches already", async () => {
    const setup = await setupLeases(options);
    const lease = await setup.claimOne();
    expect(await lease.reach(50_000)).toBe(true);
    expect(asked(setup)).toEqual([]);
  });

  test("does not reach when the extension fails, and says so", async () => {
    const setup = await setupLeases(options);
    const lease = await setup.claimOne();
    setup.failNext("changeVisibility", { kind: "throttled" });
    const reached = lease.reach(300_000);
    await setup.clock.advance(10_000);
    expect(await reached).toBe(false);
  });

  test("reaches no further than a drain allows, and no further than twelve hours", async () => {
    const setup = await setupLeases(options);
    const lease = await setup.claimOne();
    const far = lease.reach(50_000_000);
    await setup.clock.advance(100);
    expect(await far).toBe(false);
    expect(asked(setup)[0]).toBeLessThanOrEqual(43_200_000);

    const other = await setupLeases(options);
    const drained = await other.claimOne();
    void other.source.beginDrain(30_000);
    await other.clock.advance(100);
    const beyond = drained.reach(100_000);
    await other.clock.advance(5_000);
    expect(await beyond).toBe(false);
    expect(Math.max(...asked(other))).toBeLessThanOrEqual(30_000);
  });

  test("is told of each confirmed extension, until it stops to listen", async () => {
    const { clock, claimOne } = await setupLeases(options);
    const lease = await claimOne();
    let heard = 0;
    const stop = lease.onExtended(() => {
      heard += 1;
    });
    await clock.advance(50_000);
    expect(heard).toBe(2);
    stop();
    await clock.advance(50_000);
    expect(heard).toBe(2);
  });
});

describe("a lease that is let go", () => {
  test("makes no call any more, not even an extension", async () => {
    const setup = await setupLeases();
    const lease = await setup.claimOne();
    lease.start();
    expect(await lease.letGo("fenced")).toMatchObject({ kind: "lapsing" });
    expect(await lease.release(0, "ended")).toEqual({ kind: "superseded" });
    await setup.clock.advance(120_000);
    expect(asked(setup)).toEqual([]);
    expect(setup.heard("lease.lapsing")).toMatchObject([{ during: "let-go", code: "fenced" }]);
  });

  test("leaves an ending that was decided before it alone", async () => {
    const setup = await setupLeases();
    const lease = await setup.claimOne();
    lease.start();
    const acked = lease.ack();
    expect(await lease.letGo("fenced")).toEqual({ kind: "superseded" });
    await setup.clock.advance(1_000);
    expect(await acked).toEqual({ kind: "confirmed" });
  });
});

describe("a lost lease whose job is done for good", () => {
  async function lose(options: LeaseSetupOptions = {}, body = "job") {
    const setup = await setupLeases(options);
    const fifo = setup.queue.fifo ? { groupId: "a", deduplicationId: "1" } : {};
    await setup.queue.send({ body, ...fifo });
    const [lease] = await setup.source.claim({ maxMessages: 1, waitMs: 0 });
    lease?.start();
    setup.queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "throttled" } : undefined;
    await setup.clock.advance(60_000);
    expect(lease?.state).toBe("lost");
    const deletes = () => setup.queue.calls.filter(({ kind }) => kind === "delete").length;
    return { ...setup, lease, deletes };
  }

  test("deletes its message once", async () => {
    const { lease, deletes, heard } = await lose();
    await lease?.discard();
    await lease?.discard();
    expect(deletes()).toBe(1);
    expect(heard("lease.discarded")).toHaveLength(1);
  });

  test("makes no call on a FIFO queue, which would refuse it", async () => {
    const { lease, deletes } = await lose({ queue: { name: "jobs.fifo" } });
    await lease?.discard();
    expect(deletes()).toBe(0);
  });

  test("deletes nothing while it is held", async () => {
    const { claimOne, queue } = await setupLeases();
    const lease = await claimOne();
    await lease.discard();
    expect(queue.calls.filter(({ kind }) => kind === "delete")).toEqual([]);
  });
});
