import { PermanentJobError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { openSite } from "./lambda-site.ts";

const queueName = "jobs.fifo";

describe("lambdaHandler on a FIFO queue", () => {
  test("works a group in order and groups beside each other", async () => {
    const worked: string[] = [];
    const site = await openSite({
      queueName,
      handler: async ({ payload: { n } }) => {
        await site.clock.sleep(100);
        worked.push(`${n}@${site.clock.monotonicMs()}`);
      },
    });
    await site.sendTo("a", 1, 2, 3);
    await site.sendTo("b", 11, 12);
    expect(await site.invoke()).toEqual({ kind: "answered", failures: [], tookMs: 300 });
    expect(worked.sort()).toEqual(["11@100", "12@200", "1@100", "2@200", "3@300"]);
  });

  test("reports the rest of a group after a failure, and goes on with the others (powertools-lambda-typescript 2561)", async () => {
    const worked: number[] = [];
    const site = await openSite({
      queueName,
      handler: async ({ payload: { n } }) => {
        await site.clock.sleep(10);
        worked.push(n);
        if (n === 2) throw new Error("no");
      },
    });
    const a = await site.sendTo("a", 1, 2, 3, 4);
    const b = await site.sendTo("b", 11, 12, 13);
    expect(await site.invoke()).toMatchObject({ failures: a.slice(1) });
    expect(worked.sort((x, y) => x - y)).toEqual([1, 2, 11, 12, 13]);
    expect(b).toHaveLength(3);
    expect(site.queue.counts()).toMatchObject({ visible: 2, inFlight: 1 });
  });

  test("has the failed job first when its group comes again to the same sandbox (powertools-lambda-typescript 3673)", async () => {
    const worked: number[] = [];
    const site = await openSite({
      queueName,
      handler: ({ payload: { n } }) => {
        worked.push(n);
        if (worked.length === 1) throw new Error("at first");
      },
    });
    await site.sendTo("a", 1, 2, 3);
    await site.invoke();
    expect((await site.poller.take()).Records).toEqual([]);
    await site.clock.advance(3_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(worked).toEqual([1, 1, 2, 3]);
  });

  test("goes on with a group whose hopeless job is in the dead-letter queue", async () => {
    const worked: number[] = [];
    const site = await openSite({
      queueName,
      handler: ({ payload: { n } }) => {
        worked.push(n);
        if (n === 1) throw new PermanentJobError("never");
      },
    });
    await site.sendTo("a", 1, 2);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(worked).toEqual([1, 2]);
    expect(site.queue.counts()).toMatchObject({ inFlight: 0, deadLettered: 1 });
  });

  test("starts nothing of a group behind a message that it does not hold", async () => {
    const worked: number[] = [];
    const site = await openSite({
      queueName,
      handler: ({ payload }) => void worked.push(payload.n),
    });
    const a = await site.sendTo("a", 1, 2);
    await site.sendTo("b", 11);
    const event = await site.poller.take();
    // The second receive of the first message is another's: its old handle is refused.
    const [first, ...others] = event.Records;
    if (first === undefined) throw new Error("nothing was received");
    const stale = { ...first, receiptHandle: "not-a-handle" };
    const ended = await site.invoke(1_000, { Records: [stale, ...others] });
    expect(ended).toMatchObject({ failures: a });
    expect(worked).toEqual([11]);
    expect(site.heard("lambda.not-held").map(({ code }) => code)).toEqual([
      "ReceiptHandleIsInvalid",
      "BehindOneNotHeld",
    ]);
  });

  test("reports the rest of its groups when the time is short", async () => {
    const site = await openSite({
      queueName,
      poller: { timeoutMs: 10_000 },
      handler: () => site.clock.sleep(3_000),
    });
    const a = await site.sendTo("a", 1, 2, 3);
    expect(await site.invoke(10_000)).toMatchObject({ failures: a.slice(2) });
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });
});
