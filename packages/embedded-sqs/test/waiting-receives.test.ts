import type { Clock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { SqsAccount } from "@leasehold/embedded-sqs";
import { describe, expect, test } from "vitest";
import { only, reportOf, resultOf, setupAccount, testQueue } from "./account-setup.ts";

async function setup(options = {}) {
  const { clock, account, queue, fifo } = setupAccount(options);
  const q = await queue("jobs", { VisibilityTimeout: "30" });
  /** Polls for 20 s and notes when the answer came. */
  const poll = async (more = {}) => {
    const startedAtMs = clock.monotonicMs();
    const bodies = await q.bodies({ WaitTimeSeconds: 20, ...more });
    return { bodies, afterMs: clock.monotonicMs() - startedAtMs };
  };
  return { clock, account, q, fifo, poll };
}

describe("a long poll", () => {
  test("ends with nothing after its wait", async () => {
    const { clock, poll } = await setup();
    const answer = poll();
    await clock.advance(60_000);

    expect(await answer).toEqual({ bodies: [], afterMs: 20_000 });
    expect(clock.pendingTimers).toBe(0);
  });

  test("waits as long as the queue says when it does not say itself", async () => {
    const { clock, account } = setupAccount();
    const { QueueUrl } = await account.perform("CreateQueue", {
      QueueName: "slow",
      Attributes: { ReceiveMessageWaitTimeSeconds: "2" },
    });
    const answer = account.perform("ReceiveMessage", { QueueUrl }).then(() => clock.monotonicMs());
    await clock.advance(10_000);

    expect(await answer).toBe(2_000);
  });

  test("wakes when a message is sent", async () => {
    const { clock, q, poll } = await setup();
    const answer = poll();
    await clock.advance(3_000);
    await q.send("a");
    await clock.advance(0);

    expect(await answer).toEqual({ bodies: ["a"], afterMs: 3_000 });
    expect(clock.pendingTimers).toBe(0);
  });

  test("wakes when a message is released", async () => {
    const { clock, q, poll } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    const answer = poll();
    await clock.advance(3_000);
    await q.change(ReceiptHandle, 0);

    expect(await answer).toEqual({ bodies: ["a"], afterMs: 3_000 });
  });

  test("wakes when a visibility timeout ends, also one that was changed while it waited", async () => {
    const { clock, q, poll } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    const answer = poll();
    await clock.advance(1_000);
    await q.change(ReceiptHandle, 10);
    await clock.advance(19_000);

    expect(await answer).toEqual({ bodies: ["a"], afterMs: 11_000 });
  });

  test("wakes although its timer came early, as Node's may", async () => {
    const clock = new ManualClock();
    const early: Clock = {
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      sleep: (durationMs, signal) => clock.sleep(durationMs, signal),
      schedule: (delayMs, run) => clock.schedule(delayMs > 1 ? delayMs - 1 : delayMs, run),
    };
    const account = new SqsAccount(early);
    const { QueueUrl } = await account.perform("CreateQueue", { QueueName: "jobs" });
    const q = testQueue(account, QueueUrl);
    await q.send("a", { DelaySeconds: 7 });
    const answer = q
      .bodies({ WaitTimeSeconds: 20 })
      .then((bodies) => [bodies, clock.monotonicMs()]);
    await clock.advance(20_000);

    expect(await answer).toEqual([["a"], 7_000]);
  });

  test("wakes when a delay ends", async () => {
    const { clock, q, poll } = await setup();
    const answer = poll();
    await q.send("a", { DelaySeconds: 7 });
    await clock.advance(20_000);

    expect(await answer).toEqual({ bodies: ["a"], afterMs: 7_000 });
  });

  test("takes a message that becomes visible in the instant in which it ends", async () => {
    const { clock, q, poll } = await setup();
    await q.send("a", { DelaySeconds: 20 });
    const answer = poll();
    await clock.advance(20_000);

    expect((await answer).bodies).toEqual(["a"]);
  });

  test("wakes when the message before the next one of its FIFO group is deleted", async () => {
    const { clock, fifo } = await setup();
    const q = await fifo("orders");
    await q.send("a", { MessageGroupId: "g" });
    await q.send("b", { MessageGroupId: "g" });
    const { ReceiptHandle } = only(await q.receive({ MaxNumberOfMessages: 1 }));
    const answer = q.bodies({ WaitTimeSeconds: 20 });
    await clock.advance(3_000);
    await q.remove(ReceiptHandle);

    expect(await answer).toEqual(["b"]);
  });

  test("is served before those that came after it, one batch spread over all of them", async () => {
    const { account, q } = await setup();
    const polls = [1, 2, 3].map(() => q.bodies({ WaitTimeSeconds: 20, MaxNumberOfMessages: 1 }));
    const Entries = ["a", "b", "c"].map((Id) => ({ Id, MessageBody: Id }));
    await account.perform("SendMessageBatch", { QueueUrl: q.QueueUrl, Entries });

    expect(await Promise.all(polls)).toEqual([["a"], ["b"], ["c"]]);
  });

  test("gets all of a batch that it has room for", async () => {
    const { account, q } = await setup();
    const poll = q.bodies({ WaitTimeSeconds: 20 });
    const Entries = ["a", "b", "c"].map((Id) => ({ Id, MessageBody: Id }));
    await account.perform("SendMessageBatch", { QueueUrl: q.QueueUrl, Entries });

    expect(await poll).toEqual(["a", "b", "c"]);
  });

  test("ends with nothing when its queue is deleted, and when the account is closed", async () => {
    const { clock, account, q } = await setup();
    const first = q.bodies({ WaitTimeSeconds: 20 });
    await account.perform("DeleteQueue", { QueueUrl: q.QueueUrl });
    const { QueueUrl } = await account.perform("CreateQueue", { QueueName: "next" });
    const second = account.perform("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 20 });
    account.close();

    expect(await first).toEqual([]);
    expect(await second).toEqual({});
    expect(clock.pendingTimers).toBe(0);
    expect(await resultOf(account.perform("ListQueues", {}))).toBe("ServiceUnavailable");
  });
});

describe("a poll whose client has hung up", () => {
  test("swallows the message that arrives: it hides, and has used up a receive", async () => {
    const { clock, account, q } = await setup();
    const client = new AbortController();
    const poll = q.receive({ WaitTimeSeconds: 20 }, client.signal).catch((error) => error.name);
    await clock.advance(1_000);
    client.abort();
    expect(await poll).toBe("AbortError");
    expect(reportOf(account, "jobs").waitingPolls).toBe(1);

    await q.send("a");

    expect(q.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
    await clock.advance(30_000);
    expect(only(await q.receive()).Attributes?.["ApproximateReceiveCount"]).toBe("2");
  });

  test("takes nothing any more once its wait is over", async () => {
    const { clock, q } = await setup();
    const client = new AbortController();
    const poll = q.receive({ WaitTimeSeconds: 20 }, client.signal).catch((error) => error.name);
    client.abort();
    await poll;
    await clock.advance(20_000);
    await q.send("a");

    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });

  test("ends at once when the account notices, which AWS does not", async () => {
    const { account, q } = await setup({ noticesHangUps: true });
    const client = new AbortController();
    const poll = q.receive({ WaitTimeSeconds: 20 }, client.signal).catch((error) => error.name);
    client.abort();
    await poll;
    expect(reportOf(account, "jobs").waitingPolls).toBe(0);

    await q.send("a");

    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });
});
