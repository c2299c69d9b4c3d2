import { describe, expect, test } from "vitest";
import { type LeaseSetup, setupLeases } from "./lease-setup.ts";

/** Makes SQS hand out the message again although it is held, as it sometimes does. */
async function redeliver({ queue, clock }: LeaseSetup): Promise<void> {
  await clock.advance(20_000);
  const handle = queue.calls.findLast(({ kind }) => kind === "changeVisibility")?.receiptHandles[0];
  await queue.changeVisibility([{ receiptHandle: handle ?? "", visibilityTimeoutMs: 0 }]);
}

const poll = { maxMessages: 10, waitMs: 0 };

describe("a message that is received again while its run goes on", () => {
  test("is not handed out: the run goes on by the newest handle and its ack deletes the message (MassTransit 5159, 5915)", async () => {
    const all = await setupLeases();
    const { clock, source, queue, claimOne, heard } = all;
    const lease = await claimOne();
    lease.start();
    await redeliver(all);
    expect(await source.claim(poll)).toEqual([]);
    expect(source.held()).toEqual([lease]);
    await clock.advance(20_000);
    const [first, second] = queue.calls
      .filter(
        ({ kind, visibilityTimeoutsMs: [asked] }) => kind === "changeVisibility" && asked !== 0,
      )
      .map(({ receiptHandles }) => receiptHandles[0]);
    expect(second).not.toBe(first);
    const acked = lease.ack();
    await clock.advance(100);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
    expect(heard("lease.claimed")).toHaveLength(1);
    expect(await source.claim(poll)).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("does not make the run's lease longer by being received", async () => {
    const all = await setupLeases();
    const { source, claimOne } = all;
    const lease = await claimOne();
    lease.start();
    await redeliver(all);
    await all.clock.advance(5_000);
    await source.claim(poll);

    expect(lease.remainingMs()).toBe(54_000);
  });

  test("is given back by the release of the run", async () => {
    const all = await setupLeases();
    const { clock, source, queue, claimOne } = all;
    const lease = await claimOne();
    lease.start();
    await redeliver(all);
    await source.claim(poll);
    const released = lease.release(0, "ended");
    await clock.advance(20);

    expect(await released).toEqual({ kind: "confirmed" });
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
    expect(source.held()).toEqual([]);
    expect((await source.claim(poll))[0]?.message.receiveCount).toBe(3);
  });

  test.each([
    ["was lost", { kind: "lost-request" }],
    ["comes late", { kind: "slow-request", delayMs: 1_000 }],
  ] as const)(
    "is deleted by its newest handle when the delete by the old one %s",
    async (_, fault) => {
      const all = await setupLeases();
      const { clock, source, queue, claimOne } = all;
      const lease = await claimOne();
      lease.start();
      await redeliver(all);
      queue.fault = ({ kind }) => (kind === "delete" ? fault : undefined);
      const acked = lease.ack();
      await clock.advance(100);
      await source.claim(poll);
      queue.fault = () => undefined;
      await clock.advance(2_500);

      expect(await acked).toEqual({ kind: "confirmed" });
      const deletes = queue.calls.filter(({ kind }) => kind === "delete");
      expect(deletes).toHaveLength(2);
      expect(deletes[1]?.receiptHandles).not.toEqual(deletes[0]?.receiptHandles);
      expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
    },
  );
});

describe("a message that comes back after its lease was lost under a run", () => {
  async function lose() {
    const all = await setupLeases();
    const lease = await all.claimOne();
    lease.start();
    all.queue.fault = () => ({ kind: "lost-request" });
    await all.clock.advance(60_000);
    all.queue.fault = () => undefined;
    expect(lease.lost.aborted).toBe(true);
    return { ...all, lease };
  }

  test("waits until that run is over, then comes with the next claim", async () => {
    const { clock, source, lease } = await lose();
    expect(await source.claim(poll)).toEqual([]);
    await clock.advance(3_000);
    expect(source.held()).toEqual([]);
    expect(await lease.ack()).toEqual({ kind: "lost" });
    const [next] = source.held();
    expect(await source.claim(poll)).toEqual([next]);

    expect(next?.message.receiveCount).toBe(2);
    expect(next?.remainingMs()).toBe(56_000);
    next?.start();
    const acked = next?.ack();
    await clock.advance(100);
    expect(await acked).toEqual({ kind: "confirmed" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("goes on to another worker when that run does not end in time", async () => {
    const { clock, source, queue, lease, heard } = await lose();
    await source.claim(poll);
    const calls = queue.calls.length;
    await clock.advance(60_000);

    expect(queue.counts()).toMatchObject({ visible: 1 });
    expect(queue.calls).toHaveLength(calls);
    expect(heard("lease.lapsing")).toMatchObject([
      { during: "held-back", lease: { messageId: lease.ref.messageId, receiveCount: 2 } },
    ]);
    await lease.release(0, "ended");
    expect(source.held()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("is handed out at once when no run had begun", async () => {
    const { clock, source, queue, claimOne } = await setupLeases();
    await claimOne();
    queue.fault = () => ({ kind: "lost-request" });
    await clock.advance(60_000);
    queue.fault = () => undefined;

    expect(await source.claim(poll)).toHaveLength(1);
  });
});

describe("a message that was released and comes before the answer does", () => {
  test("is a delivery of its own", async () => {
    const { clock, source, claimOne, failNext } = await setupLeases();
    const lease = await claimOne();
    lease.start();
    failNext("changeVisibility", { kind: "slow-answer", delayMs: 500 });
    const released = lease.release(0, "ended");
    await clock.advance(20);
    expect(await source.claim(poll)).toEqual([]);
    await clock.advance(500);

    expect(await released).toEqual({ kind: "confirmed" });
    const [next] = await source.claim(poll);
    expect(next?.message.receiveCount).toBe(2);
  });
});
