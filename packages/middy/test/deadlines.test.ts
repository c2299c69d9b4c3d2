import type { JobAbortedError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { openSite } from "./lambda-site.ts";

describe("lambdaHandler near the end of its time", () => {
  test("starts nothing in the last seconds, and gives what it did not start back at once", async () => {
    const started: number[] = [];
    const site = await openSite({
      options: { concurrency: 1 },
      poller: { timeoutMs: 10_000 },
      handler: async ({ payload: { n } }) => {
        started.push(n);
        await site.clock.sleep(3_000);
      },
    });
    await site.send(1, 2, 3, 4);
    const ended = await site.invoke(10_000);
    // One ends after 3 s, the next after 6 s; the last 5 s begin after 5 s.
    expect(started).toHaveLength(2);
    expect(ended).toEqual({
      ...{ kind: "answered", tookMs: 6_000 },
      failures: [expect.any(String), expect.any(String)],
    });
    expect(site.queue.counts()).toMatchObject({ visible: 2, inFlight: 0 });
  });

  test("asks a job that does not end to stop, three seconds before the end", async () => {
    const causes: unknown[] = [];
    const site = await openSite({
      handler: async (_, { signal, draining, remainingMs }) => {
        causes.push(remainingMs());
        await site.clock.sleep(60_000, draining);
        causes.push(site.clock.monotonicMs());
        await site.clock.sleep(60_000, signal);
        causes.push(site.clock.monotonicMs(), (signal.reason as JobAbortedError).abortCause);
        throw signal.reason;
      },
    });
    const [id] = await site.send(1);
    const ended = await site.invoke(30_000);
    expect(causes).toEqual([27_000, 25_000, 27_000, "drain-deadline"]);
    expect(ended).toEqual({ kind: "answered", failures: [id], tookMs: 27_020 });
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
    expect(site.heard("job.ended").map(({ outcome }) => outcome)).toEqual(["interrupted"]);
  });

  test("answers in time beside a job that ignores its signal, which stays hidden until the sandbox is gone", async () => {
    const site = await openSite({
      handler: ({ payload: { n } }) => (n === 1 ? new Promise(() => {}) : undefined),
    });
    const [ignorant] = await site.send(1, 2);
    expect(await site.invoke(30_000)).toMatchObject({ kind: "answered", failures: [ignorant] });
    expect(site.heard("job.ignored-abort")).toHaveLength(1);
    expect(site.heard("lambda.answered")).toMatchObject([{ failures: 1, stillRunning: 1 }]);
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    await site.clock.advance(2_000);
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("answers in time although its queue does not answer", async () => {
    const site = await openSite({
      options: { queueVisibilityTimeoutMs: 180_000 },
      handler: () => {
        site.queue.fault = () => ({ kind: "slow-request", delayMs: 600_000 });
        throw new Error("no");
      },
    });
    const [id] = await site.send(1);
    const ended = await site.invoke(30_000);
    expect(ended).toMatchObject({ kind: "answered", failures: [id] });
    expect((ended as { tookMs: number }).tookMs).toBeLessThanOrEqual(29_000);
  });

  test("leaves no timer behind", async () => {
    const site = await openSite();
    await site.send(1, 2);
    await site.invoke();
    expect(site.clock.pendingTimers).toBe(0);
  });
});
