import { LeaseLostError } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { setupLeases } from "./lease-setup.ts";

describe("extensions", () => {
  test("of 25 leases go in three calls", async () => {
    const { clock, claim, queue, heard } = await setupLeases();
    await claim(25);
    await clock.advance(20_000);

    const calls = queue.calls.filter(({ kind }) => kind === "changeVisibility");
    expect(calls.map(({ atMs, entries }) => [atMs, entries])).toEqual([
      [20_000, 10],
      [20_000, 10],
      [20_000, 5],
    ]);
    expect(heard("lease.extended")).toHaveLength(25);
    expect(heard("lease.extended")[0]).toMatchObject({ marginMs: 39_000, remainingMs: 59_000 });
  });

  test("fill up a call that is due with those that fall due soon after", async () => {
    const { clock, claim, queue } = await setupLeases();
    await claim(1);
    await clock.advance(9_000);
    await claim(1);
    await clock.advance(3_000);
    await claim(1);
    await clock.advance(20_000);

    const calls = queue.calls.filter(({ kind }) => kind === "changeVisibility");
    expect(calls.map(({ atMs, entries }) => [atMs, entries])).toEqual([
      [20_000, 2],
      [32_000, 3],
    ]);
  });

  test("come earlier by jitter, never later", async () => {
    const { clock, claimOne, sentAt } = await setupLeases({ random: () => 0.5 });
    await claimOne();
    await clock.advance(40_000);

    expect(sentAt("changeVisibility")).toEqual([19_000, 38_000]);
  });

  test("are tried again after short, growing pauses (NServiceBus Renewal, MassTransit)", async () => {
    const { clock, claimOne, sentAt, failNext, heard } = await setupLeases();
    const lease = await claimOne();
    const throttled = { kind: "throttled" } as const;
    failNext("changeVisibility", throttled, throttled, throttled, throttled);
    await clock.advance(30_000);

    expect(sentAt("changeVisibility")).toEqual([20_000, 20_050, 20_150, 20_350, 20_750]);
    expect(heard("lease.extension-failed")).toMatchObject([
      { code: "ThrottlingException", remainingMs: 39_000 },
      { remainingMs: 38_950 },
      { remainingMs: 38_850 },
      { remainingMs: 38_650 },
    ]);
    expect(lease.remainingMs()).toBe(49_750);
  });

  test("that are never answered end in a lost lease, and no call leaves that cannot be answered in time", async () => {
    const { clock, claimOne, sentAt, queue, heard } = await setupLeases();
    const lease = await claimOne();
    lease.start();
    queue.fault = () => ({ kind: "lost-request" });
    await clock.advance(58_999);
    expect(lease.lost.aborted).toBe(false);
    await clock.advance(1);

    expect(lease.lost.reason).toBeInstanceOf(LeaseLostError);
    expect(lease.lost.reason).toMatchObject({ lease: lease.ref, lostCause: "expired" });
    expect(lease.state).toBe("lost");
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
    expect(Math.max(...sentAt("changeVisibility"))).toBeLessThanOrEqual(57_000);
    expect(heard("lease.lost")).toEqual([
      { kind: "lease.lost", lease: lease.ref, cause: "expired", during: "running" },
    ]);
    const calls = queue.calls.length;
    expect(await lease.ack()).toEqual({ kind: "lost" });
    await clock.advance(100_000);
    expect(queue.calls).toHaveLength(calls);
    expect(clock.pendingTimers).toBe(0);
  });

  test("count from the moment they were sent, not from the answer", async () => {
    const { clock, claimOne, failNext } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "slow-answer", delayMs: 1_500 });
    await clock.advance(21_500);

    expect(lease.remainingMs()).toBe(57_500);
    expect(lease.expiresInMs()).toBe(60_000);
  });

  test("answered after the lease ran out do not bring it back, whatever they say", async () => {
    const { clock, claimOne, failNext, heard } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "slow-answer", delayMs: 500 });
    await clock.advance(20_000);
    await clock.block(39_000);

    expect(lease.state).toBe("lost");
    expect(heard("lease.lost")).toMatchObject([{ cause: "late-answer" }]);
    expect(heard("lease.extended")).toEqual([]);
  });

  test("cannot hide a suspended machine: time on the wall clock counts as well", async () => {
    const { clock, claimOne } = await setupLeases();
    const lease = await claimOne();
    await clock.advance(10_000);
    clock.stepWall(49_000);
    expect(lease.remainingMs()).toBe(0);
    expect(lease.lost.aborted).toBe(false);
    await clock.advance(1_000);
    expect(lease.lost.aborted).toBe(true);
  });

  test("are judged one by one: a refused handle is lost, its neighbours are not (bbc/sqs-consumer 193, PR 807; autumn PR 2415)", async () => {
    const { clock, claim, queue, heard } = await setupLeases();
    const [first, second, third] = await claim(3);
    await clock.advance(20_000);
    const [, handle = ""] = queue.calls.at(-1)?.receiptHandles ?? [];
    await queue.delete([handle]); // Somebody else deletes the second message.
    await clock.advance(20_000);

    expect([first?.state, second?.state, third?.state]).toEqual(["received", "lost", "received"]);
    expect(heard("lease.lost")).toMatchObject([{ lease: second?.ref, cause: "refused" }]);
    expect(first?.remainingMs()).toBe(59_000);
  });

  test("stop for good once the ending is confirmed (MassTransit 6179)", async () => {
    const { clock, claimOne, sentAt } = await setupLeases();
    const lease = await claimOne();
    const released = lease.release(5_000, "ended");
    await clock.advance(20);
    expect(await released).toEqual({ kind: "confirmed" });
    await clock.advance(100_000);

    expect(sentAt("changeVisibility")).toEqual([20]);
  });
});

describe("the taper of a drain", () => {
  test("shortens what reaches beyond the target in one call, and later extensions reach no further", async () => {
    const { clock, claim, source, queue } = await setupLeases();
    const [lease] = await claim(3);
    await clock.advance(5_000);
    const tapered = await source.beginDrain(37_000);

    expect(tapered).toEqual({ tapered: 3, refused: 0 });
    expect(queue.calls.at(-1)).toMatchObject({
      atMs: 5_000,
      entries: 3,
      visibilityTimeoutsMs: [32_000, 32_000, 32_000],
    });
    expect(lease?.remainingMs()).toBe(31_000);
    await clock.advance(30_000);
    expect(queue.calls).toHaveLength(2);
    await clock.advance(2_000);
    expect(queue.counts().visible).toBe(3);
  });

  test("extends to the target what does not reach it yet (OptimalBits/bull 1615, 1415; rails/solid_queue 568; temporalio/sdk-java 2075)", async () => {
    const { clock, claimOne, source, queue } = await setupLeases();
    const lease = await claimOne();
    await clock.advance(1_000);
    expect(await source.beginDrain(90_500)).toEqual({ tapered: 0, refused: 0 });
    await clock.advance(89_000);

    const calls = queue.calls.filter(({ kind }) => kind === "changeVisibility");
    expect(calls.map(({ atMs, visibilityTimeoutsMs }) => [atMs, visibilityTimeoutsMs])).toEqual([
      [20_000, [60_000]],
      [40_000, [50_000]],
    ]);
    expect(lease.state).toBe("lost");
  });

  test("lowers the local deadline when it is sent, and restores it when it provably did nothing", async () => {
    const { clock, claimOne, source, failNext, sentAt } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "throttled" });
    const tapered = source.beginDrain(30_000);
    expect(lease.remainingMs()).toBe(29_000);
    expect(await tapered).toEqual({ tapered: 0, refused: 1 });
    expect(lease.remainingMs()).toBe(59_000);
    await clock.advance(50);

    expect(sentAt("changeVisibility")).toEqual([0, 50]);
    expect(lease.remainingMs()).toBe(28_000);
  });

  test("stays lowered when its answer is lost, and is tried again", async () => {
    const { clock, claimOne, source, failNext, sentAt } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "lost-request" });
    const tapered = source.beginDrain(30_000);
    await clock.advance(2_000);
    expect(await tapered).toEqual({ tapered: 0, refused: 1 });
    expect(lease.remainingMs()).toBe(27_000);
    expect(lease.expiresInMs()).toBe(58_000);
    await clock.advance(50);

    expect(sentAt("changeVisibility")).toEqual([0, 2_050]);
    expect(lease.expiresInMs()).toBe(27_000);
  });

  test("catches what an awaited poll brings after the drain began", async () => {
    const { clock, queue, source } = await setupLeases();
    const claimed = source.claim({ maxMessages: 1, waitMs: 20_000 });
    await source.beginDrain(32_000);
    await clock.advance(4_000);
    await queue.send();
    await clock.settle();
    const [lease] = await claimed;
    await clock.advance(0);

    expect(lease?.expiresInMs()).toBe(28_000);
  });

  test("ends the lingering of acks, also of those that linger already", async () => {
    const { clock, claim, source, sentAt } = await setupLeases();
    const [one, other] = await claim(2);
    void one?.ack();
    await source.beginDrain(60_000);
    void other?.ack();
    await clock.advance(0);

    expect(sentAt("delete")).toEqual([0, 0]);
    expect(source.unconfirmedAcks).toBe(0);
  });
});
