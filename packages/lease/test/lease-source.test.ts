import { ClaimFailedError } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { setupLeases } from "./lease-setup.ts";

describe("openLeaseSource", () => {
  test("claims, extends while the job runs, and deletes the message on ack", async () => {
    const { clock, queue, events, claimOne } = await setupLeases();
    const lease = await claimOne();
    lease.start();
    await clock.advance(50_000);
    const acked = lease.ack();
    await clock.advance(100);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(queue.calls.map(({ kind, atMs }) => [kind, atMs])).toEqual([
      ["receive", 0],
      ["changeVisibility", 20_000],
      ["changeVisibility", 40_000],
      ["delete", 50_100],
    ]);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 });
    expect(events.map(({ kind }) => kind)).toEqual([
      "lease.claimed",
      "lease.extension-call",
      "lease.extended",
      "lease.extension-call",
      "lease.extended",
      "lease.acked",
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("tells how old a claimed message is and how long it is held", async () => {
    const { clock, queue, source, heard } = await setupLeases();
    await queue.send();
    await clock.advance(7_000);
    const [lease] = await source.claim({ maxMessages: 1, waitMs: 0 });

    expect(heard("lease.claimed")).toEqual([
      { kind: "lease.claimed", lease: lease?.ref, remainingMs: 59_000, ageMs: 7_000 },
    ]);
    expect(lease?.remainingMs()).toBe(59_000);
    expect(lease?.expiresInMs()).toBe(60_000);
  });

  test("extends a message at once that came late in a long poll", async () => {
    const { clock, queue, source, sentAt } = await setupLeases();
    const claimed = source.claim({ maxMessages: 1, waitMs: 20_000 });
    await clock.advance(19_900);
    await queue.send();
    await clock.settle();
    expect((await claimed)[0]?.remainingMs()).toBe(39_100);
    await clock.advance(100);

    expect(sentAt("changeVisibility")).toEqual([20_000]);
  });

  test("hands out nothing that had run out before it came", async () => {
    const { clock, claim, source, queue, heard } = await setupLeases();
    await queue.send();
    queue.fault = () => ({ kind: "slow-answer", delayMs: 59_000 });
    const claimed = source.claim({ maxMessages: 1, waitMs: 0 });
    await clock.advance(59_000);

    expect(await claimed).toEqual([]);
    expect(heard("lease.lost")).toMatchObject([{ cause: "expired", during: "received" }]);
    expect(source.held()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    expect(await claim(0)).toEqual([]);
  });

  test("tells a queue that is gone from a queue that is busy", async () => {
    const { source, queue } = await setupLeases();
    queue.fault = () => ({ kind: "throttled" });
    const busy = await source.claim({ maxMessages: 1, waitMs: 0 }).catch((error) => error);
    queue.fault = () => undefined;
    await queue.account.perform("DeleteQueue", { QueueUrl: queue.queueUrl });
    const gone = await source.claim({ maxMessages: 1, waitMs: 0 }).catch((error) => error);

    expect(busy).toBeInstanceOf(ClaimFailedError);
    expect(busy).toMatchObject({ reason: "ThrottlingException", retryable: true, fatal: false });
    expect(gone).toMatchObject({ reason: "QueueDoesNotExist", retryable: false, fatal: true });
  });

  test("lists what is held, oldest first, and forgets what has ended", async () => {
    const { clock, source, claim } = await setupLeases();
    const [first, second] = await claim(2);
    await clock.advance(1_000);
    const [third] = await claim(1);
    const released = first?.release(0, "unstarted");
    await clock.advance(20);
    await released;

    expect(source.held()).toEqual([second, third]);
  });

  test("goes on when a listener throws", async () => {
    const { clock, claimOne } = await setupLeases({
      onEvent: () => {
        throw new Error("broken listener");
      },
    });
    const lease = await claimOne();
    const acked = lease.ack();
    await clock.advance(100);

    expect(await acked).toEqual({ kind: "confirmed" });
  });

  test("flushes acks that linger and releases that gather, and waits for their answers (awspring/spring-cloud-aws 925, 1661; squiss-ts 146)", async () => {
    const { clock, source, claim, failNext, queue } = await setupLeases();
    const [one, other, running] = await claim(3);
    running?.start();
    failNext("delete", { kind: "throttled" });
    const endings = [one?.ack(), other?.release(0, "ended")];
    await clock.settle();
    let isFlushed = false;
    const flushed = source.flush().then(() => {
      isFlushed = true;
    });
    await clock.settle();
    expect(source.unconfirmedAcks).toBe(1);
    expect(isFlushed).toBe(false);
    await clock.advance(150);
    await flushed;

    expect(await Promise.all(endings)).toEqual([{ kind: "confirmed" }, { kind: "confirmed" }]);
    expect(source.unconfirmedAcks).toBe(0);
    expect(queue.counts()).toEqual({ visible: 1, inFlight: 1, delayed: 0, deadLettered: 0 });
  });

  test("of a worker that dies without a word is over within the visibility timeout of its last extension (graphile/worker 526; cortexlabs/cortex 1504)", async () => {
    const { clock, queue, source, claimOne } = await setupLeases();
    (await claimOne()).start();
    await clock.advance(45_000);
    expect(queue.calls.at(-1)).toMatchObject({ kind: "changeVisibility", atMs: 40_000 });
    source.close();
    await clock.advance(54_900);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    await clock.advance(200);
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("lets what is held lapse when it is closed, with no timer and no call left", async () => {
    const { clock, source, claim, heard, queue } = await setupLeases();
    const [lease, acked] = await claim(2);
    lease?.start();
    await clock.advance(5_000);
    const ending = acked?.ack();
    source.close();
    await clock.advance(100_000);

    expect(clock.pendingTimers).toBe(0);
    expect(queue.calls.map(({ kind }) => kind)).toEqual(["receive"]);
    expect(await ending).toEqual({ kind: "lapsing", visibleInMs: 55_000 });
    expect(await lease?.ack()).toMatchObject({ kind: "lapsing" });
    expect(heard("lease.lapsing")).toMatchObject([
      { during: "close", visibleInMs: 55_000 },
      { during: "close", visibleInMs: 55_000 },
    ]);
    expect(lease?.lost.aborted).toBe(false);
  });

  test("refuses to claim once closed, and lets lapse what a poll brings then", async () => {
    const { clock, source, queue } = await setupLeases();
    const open = source.claim({ maxMessages: 1, waitMs: 20_000 });
    await clock.settle();
    source.close();
    await queue.send();
    await clock.settle();

    expect(await open).toEqual([]);
    await expect(source.claim({ maxMessages: 1, waitMs: 0 })).rejects.toThrow("closed");
    expect(clock.pendingTimers).toBe(0);
  });

  test("reports the hold limit before SQS's twelve hours end it, and extends no further", async () => {
    const { clock, queue, claimOne } = await setupLeases({
      options: { visibilityTimeoutMs: 14_400_000, extendEveryMs: 3_600_000 },
    });
    const lease = await claimOne();
    lease.start();
    await clock.advance(43_170_000 - 1);
    expect(lease.holdRemainingMs()).toBe(1);
    await clock.advance(1);
    expect(lease.holdRemainingMs()).toBe(0);
    expect(lease.remainingMs()).toBe(28_000);
    const longest = queue.calls.map(({ atMs, visibilityTimeoutsMs: [asked = 0] }) => atMs + asked);
    expect(Math.max(...longest)).toBe(43_199_000);

    const released = lease.release(0, "hold-limit");
    await clock.advance(20);
    expect(await released).toEqual({ kind: "confirmed" });
  });
});
