import type { EndOutcome } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { setupLeases } from "./lease-setup.ts";

/** Leases of 60 s, extended every 20 s by a thread, which goes on for a block of up to 200 s. */
const setup = (maxBlockedMs = 200_000, rest = {}) =>
  setupLeases({ ...rest, thread: { maxBlockedMs } });

describe("an extender in its own thread", () => {
  test("keeps a lease while a handler blocks the event loop for three visibility timeouts (taskforcesh/bullmq 3056, 3183)", async () => {
    const { clock, loop, claimOne, queue, sentAt, heard } = await setup();
    const lease = await claimOne();
    lease.start();
    let acked: Promise<EndOutcome> | undefined;
    await loop.block(180_000, () => {
      acked = lease.ack();
    });
    await clock.advance(100);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([
      20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 140_000, 160_000, 180_000,
    ]);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
    expect(heard("lease.extended")).toHaveLength(9);
    expect(heard("lease.loop-blocked")).toEqual([
      { kind: "lease.loop-blocked", queue: "jobs", blockedMs: 180_000, extensionsPaused: false },
    ]);
  });

  test("stops when the block lasts too long: the message is visible V after the last extension, and the run's ack is not sent (taskforcesh/bullmq 3056)", async () => {
    const { clock, loop, claimOne, queue, sentAt, heard } = await setup(45_000);
    const lease = await claimOne();
    lease.start();
    let acked: Promise<EndOutcome> | undefined;
    const blocked = loop.block(180_000, () => {
      acked = lease.ack();
    });
    const poll = { maxMessages: 1, waitMs: 20_000, visibilityTimeoutMs: 300_000 };
    let again = await queue.receive(poll);
    while (again.length === 0) again = await queue.receive(poll);
    const secondStartAtMs = clock.monotonicMs();
    await blocked;

    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000]);
    expect(again.map(({ message }) => message.messageId)).toEqual([lease.ref.messageId]);
    expect(secondStartAtMs).toBe(100_000);
    expect(await acked).toEqual({ kind: "lost" });
    expect(sentAt("delete")).toEqual([]);
    expect(heard("lease.lost")).toMatchObject([{ cause: "expired", during: "running" }]);
    expect(heard("lease.loop-blocked")).toMatchObject([{ extensionsPaused: true }]);
  });

  test("goes on when the block ends while the lease still holds", async () => {
    const { clock, loop, claimOne, sentAt } = await setup(30_000);
    const lease = await claimOne();
    await loop.block(65_000);
    expect(sentAt("changeVisibility")).toEqual([20_000]);
    expect(lease.remainingMs()).toBe(14_000);
    await clock.advance(20_000);

    expect(sentAt("changeVisibility")).toEqual([20_000, 65_000, 85_000]);
    expect(lease.remainingMs()).toBe(59_000);
  });

  test("shortens in a drain, and this thread sees it at once", async () => {
    const { clock, claim, source } = await setup();
    const leases = await claim(12);
    const tapered = await source.beginDrain(30_000);

    expect(tapered).toEqual({ tapered: 12, refused: 0 });
    expect(leases.map((lease) => lease.remainingMs())).toEqual(Array(12).fill(29_000));
    await clock.advance(29_000);
    expect(leases[0]?.state).toBe("lost");
  });

  test("awaits an extension that is out before a release leaves (bbc/sqs-consumer 260)", async () => {
    const { clock, claimOne, queue, sentAt, failNext } = await setup();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "slow-request", delayMs: 1_500 });
    await clock.advance(20_000);
    const released = lease.release(0, "ended");
    await clock.advance(1_000);
    expect(sentAt("changeVisibility")).toEqual([20_000]);
    await clock.advance(1_000);

    expect(await released).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([20_000, 21_520]);
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
    await clock.advance(60_000);
    expect(sentAt("changeVisibility")).toHaveLength(2);
  });

  test("sends nothing once a release has been decided, though its message is still on its way", async () => {
    const { clock, loop, claimOne, sentAt } = await setup();
    const lease = await claimOne();
    // Decided in the turn that blocks: the thread can learn of it by shared memory only.
    const released = lease.release(0, "ended");
    await loop.block(40_000);
    await clock.advance(100);

    expect(sentAt("changeVisibility")).toEqual([40_000]);
    expect(await released).toEqual({ kind: "confirmed" });
  });

  test("tells of a refused handle at once, and sends nothing more with it", async () => {
    const { clock, claimOne, queue, sentAt, heard } = await setup();
    const lease = await claimOne();
    lease.start();
    await queue.account.perform("PurgeQueue", { QueueUrl: queue.queueUrl });
    await clock.advance(20_000);
    expect(heard("lease.lost")).toMatchObject([{ cause: "refused", during: "running" }]);
    await clock.advance(60_000);

    expect(lease.state).toBe("lost");
    expect(sentAt("changeVisibility")).toEqual([20_000]);
  });

  test("does not believe an answer that comes after the lease was over", async () => {
    const { clock, loop, claimOne, queue, heard } = await setup();
    const lease = await claimOne();
    queue.fault = (call) =>
      call.kind === "changeVisibility" && call.atMs < 56_000
        ? { kind: "throttled" }
        : { kind: "slow-answer", delayMs: 1_900 };
    clock.schedule(57_500, () => clock.stepWall(1_200));
    await loop.block(59_000);

    expect(heard("lease.lost")).toMatchObject([{ cause: "late-answer" }]);
    expect(lease.state).toBe("lost");
    expect(heard("lease.extended")).toEqual([]);
  });

  test("serves ten thousand leases one after the other in the memory of those held at once", async () => {
    const { clock, claim, farEnd, source } = await setup();
    for (let round = 0; round < 100; round += 1) {
      const leases = await claim(100);
      expect(farEnd.thread.lentSlots).toBe(100);
      for (const lease of leases) lease.start();
      const acks = leases.map((lease) => lease.ack());
      await clock.advance(100);
      await Promise.all(acks);
      expect(farEnd.thread.lentSlots).toBe(0);
    }
    expect(farEnd.thread.slots).toBe(128);
    source.close();
    farEnd.thread.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("an extender's thread that does not work", () => {
  test("crashes: its leases are extended in this thread from then on, none is lost", async () => {
    const { clock, claim, farEnd, heard, sentAt } = await setup();
    const leases = await claim(3);
    await clock.advance(30_000);
    farEnd.crash();
    await clock.advance(100_000);

    expect(heard("lease.extender-failed")).toEqual([
      {
        kind: "lease.extender-failed",
        queue: "jobs",
        code: "ThreadCrashed",
        message: "Error: broken",
      },
    ]);
    expect(heard("lease.lost")).toEqual([]);
    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000, 60_000, 80_000, 100_000, 120_000]);
    expect(leases.map((lease) => lease.remainingMs())).toEqual([49_000, 49_000, 49_000]);
    const acks = leases.map((lease) => {
      lease.start();
      return lease.ack();
    });
    await clock.advance(100);
    expect(await Promise.all(acks)).toEqual(Array(3).fill({ kind: "confirmed" }));
  });

  test("crashes under a call: a release waits until that call can no longer arrive", async () => {
    const { clock, claimOne, farEnd, failNext, sentAt } = await setup();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "lost-request" });
    await clock.advance(20_000);
    const released = lease.release(0, "ended");
    await clock.advance(500);
    farEnd.crash();
    await clock.advance(3_000);

    expect(await released).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([20_000, 22_520]);
  });

  test("crashes in a drain: this thread shortens what it had not", async () => {
    const { clock, claimOne, farEnd, queue, source } = await setup();
    const lease = await claimOne();
    queue.fault = (call) =>
      call.kind === "changeVisibility" && call.atMs < 1_000 ? { kind: "lost-request" } : undefined;
    const tapered = source.beginDrain(30_000);
    await clock.advance(500);
    farEnd.crash();
    await tapered;
    await clock.advance(3_000);

    expect(
      queue.calls
        .filter(({ kind }) => kind === "changeVisibility")
        .map(({ atMs, visibilityTimeoutsMs }) => [atMs, visibilityTimeoutsMs]),
    ).toEqual([
      [0, [30_000]],
      [2_500, [27_000]],
    ]);
    expect(lease.remainingMs()).toBe(25_000);
  });

  test("falls silent: it is given up, and its leases are extended here", async () => {
    const { clock, claimOne, farEnd, heard, sentAt } = await setup();
    await claimOne();
    await clock.advance(10_000);
    farEnd.freeze();
    await clock.advance(30_000);

    expect(heard("lease.extender-failed")).toMatchObject([{ code: "ThreadSilent" }]);
    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000]);
  });

  test("is not given up after the whole process stood still", async () => {
    const { clock, claimOne, heard } = await setupLeases({ thread: { startsAfterMs: 100 } });
    await claimOne();
    await clock.advance(10_150); // This thread's beat is due first.
    await clock.block(30_000);
    await clock.advance(10_000);
    expect(heard("lease.loop-blocked")).toHaveLength(1);
    expect(heard("lease.extender-failed")).toEqual([]);
  });

  test("does not start in time: its leases are extended here", async () => {
    const { clock, claimOne, heard, sentAt, farEnd } = await setupLeases({
      thread: { startsAfterMs: 1_000_000 },
    });
    await claimOne();
    let isStarted = false;
    void farEnd.thread.started.then(() => {
      isStarted = true;
    });
    await clock.advance(14_000);
    expect(isStarted).toBe(false);
    await clock.advance(26_000);

    expect(isStarted).toBe(true);
    expect(heard("lease.extender-failed")).toMatchObject([{ code: "ThreadNotStarted" }]);
    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000]);
  });

  test("does not start while a lease presses: nobody waits for it", async () => {
    const options = { visibilityTimeoutMs: 10_000, extendEveryMs: 3_000 };
    const { clock, claimOne, heard } = await setupLeases({
      options,
      thread: { startsAfterMs: 1_000_000 },
    });
    await claimOne();
    await clock.advance(30_000);

    expect(heard("lease.extender-failed")).toHaveLength(1);
    expect(heard("lease.lost")).toEqual([]);
  });

  test("hears of messages that came before it had started", async () => {
    const { clock, claimOne, heard, sentAt } = await setupLeases({
      thread: { startsAfterMs: 5_000 },
    });
    await claimOne();
    await clock.advance(40_000);

    expect(heard("lease.extender-failed")).toEqual([]);
    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000]);
  });

  test("cannot call a queue that does not say where it is", async () => {
    const { clock, claimOne, heard, sentAt } = await setupLeases({
      thread: {},
      between: (queue) => ({
        ...{ name: queue.name, fifo: false, hasDeadLetterQueue: true },
        receive: (request) => queue.receive(request),
        changeVisibility: (entries) => queue.changeVisibility(entries),
        delete: (receiptHandles) => queue.delete(receiptHandles),
        deadLetter: (copy) => queue.deadLetter(copy),
      }),
    });
    await claimOne();
    await clock.advance(20_000);

    expect(heard("lease.extender-failed")).toMatchObject([{ code: "NoQueueUrl" }]);
    expect(sentAt("changeVisibility")).toEqual([20_000]);
  });
});
