import { describe, expect, test } from "vitest";
import { openSite } from "./lambda-site.ts";

describe("messages of a batch", () => {
  test("stay hidden to the end of the invocation, also those that wait for a slot", async () => {
    const site = await openSite({
      options: { concurrency: 1 },
      // A visibility timeout that is far too short for the function.
      poller: { timeoutMs: 60_000, visibilityTimeoutMs: 5_000 },
      handler: () => site.clock.sleep(18_100),
    });
    await site.send(1, 2, 3);
    const ended = site.poller.invoke(site.handler, await site.poller.take());
    await site.clock.advance(54_000);
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 3 });
    await site.clock.advance(6_000);
    expect(await ended).toMatchObject({ kind: "answered", failures: [] });
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("need one call for ten of them", async () => {
    const site = await openSite({ poller: { visibilityTimeoutMs: 30_000 } });
    await site.send(...Array.from({ length: 10 }, (_, index) => index));
    await site.invoke();
    expect(site.queue.calls).toMatchObject([
      { kind: "changeVisibility", entries: 10, visibilityTimeoutsMs: Array(10).fill(50_000) },
    ]);
  });

  test("need no call when the queue's own timeout is known and long enough", async () => {
    const site = await openSite({ options: { queueVisibilityTimeoutMs: 180_000 } });
    await site.send(1, 2);
    await site.invoke();
    expect(site.queue.calls).toEqual([]);
  });

  test("are extended when they were received before, for nobody knows how long ago", async () => {
    const site = await openSite({
      options: { queueVisibilityTimeoutMs: 180_000 },
      poller: { visibilityTimeoutMs: 20_000 },
    });
    await site.send(1);
    await site.poller.take();
    await site.clock.advance(20_000);
    await site.invoke();
    expect(site.queue.calls).toMatchObject([{ kind: "changeVisibility", entries: 1 }]);
  });

  test("are not run when SQS does not confirm that they are still held", async () => {
    const runs: number[] = [];
    const site = await openSite({ handler: ({ payload }) => void runs.push(payload.n) });
    const [id] = await site.send(1);
    site.queue.fault = () => ({ kind: "throttled" });
    expect(await site.invoke()).toMatchObject({ failures: [id] });
    expect(runs).toEqual([]);
    expect(site.heard("lambda.not-held")).toMatchObject([{ code: "ThrottlingException" }]);
    expect(site.queue.calls).toHaveLength(2);
  });

  test("are run after an extension whose first answer was lost", async () => {
    const site = await openSite();
    await site.send(1);
    let calls = 0;
    site.queue.fault = () => {
      calls += 1;
      return calls === 1 ? { kind: "lost-reply" } : undefined;
    };
    expect(await site.invoke(5_000)).toMatchObject({ failures: [] });
  });
});

describe("a function that cannot call its queue", () => {
  test("runs its batch and reports failures, which come back by the queue's own timeout", async () => {
    const site = await openSite({
      isConnected: false,
      handler: ({ payload: { n } }) => {
        if (n === 1) throw new Error("no");
      },
    });
    const [id] = await site.send(1, 2);
    expect(await site.invoke()).toMatchObject({ failures: [id] });
    expect(site.queue.calls).toEqual([]);
    expect(site.heard("lease.lapsing")).toMatchObject([{ during: "retry", code: "NoQueue" }]);
    await site.clock.advance(179_000);
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("leaves a hopeless job to the queue's redrive policy", async () => {
    const site = await openSite({
      isConnected: false,
      options: { maxAttempts: 1, interruptionBudget: 1 },
      handler: () => {
        throw new Error("no");
      },
    });
    const [id] = await site.send(1);
    for (let times = 0; times < 4; times += 1) {
      expect(await site.invoke(180_000)).toMatchObject({ failures: [id] });
    }
  });
});
