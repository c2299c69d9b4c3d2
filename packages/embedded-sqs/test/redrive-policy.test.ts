import { describe, expect, test } from "vitest";
import { only, reportOf, resultOf, setupAccount } from "./account-setup.ts";

async function setup(maxReceiveCount: number | string = 2) {
  const { clock, account, queue, fifo } = setupAccount();
  const dlq = await queue("dead");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount });
  const q = await queue("jobs", { VisibilityTimeout: "30", RedrivePolicy });
  /** Receives and gives back until the count is used up. */
  const useUp = async () => {
    for (let count = 0; count < 2; count += 1) {
      await q.change(only(await q.receive()).ReceiptHandle, 0);
    }
  };
  return { clock, account, queue, fifo, q, dlq, useUp };
}

describe("a redrive policy", () => {
  test("moves a message with the receive after its count is used up, not when its time is over", async () => {
    const { clock, q, dlq } = await setup();
    await q.send("a");
    await q.receive();
    await clock.advance(30_000);
    await q.receive();
    await clock.advance(30_000);
    expect(dlq.counts().visible).toBe(0);

    expect(await q.bodies()).toEqual([]);

    expect(dlq.counts().visible).toBe(1);
    expect(q.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  test("sends a long poll back empty at once when all it met was moved", async () => {
    const { clock, q, useUp } = await setup();
    await q.send("a");
    await useUp();
    const poll = q.bodies({ WaitTimeSeconds: 20 }).then(() => clock.monotonicMs());
    await clock.settle();

    expect(await poll).toBe(0);
  });

  test("lets the same receive go on with the next message", async () => {
    const { q, useUp } = await setup();
    await q.send("a");
    await useUp();
    await q.send("b");

    expect(await q.bodies()).toEqual(["b"]);
  });

  test("keeps id, receive count and the time of sending, and names the source", async () => {
    const { clock, q, dlq, useUp } = await setup();
    const messageId = await q.send("a");
    await useUp();
    await clock.advance(5_000);
    await q.receive();
    const moved = only(await dlq.receive());

    expect(moved.MessageId).toBe(messageId);
    expect(moved.Attributes).toMatchObject({
      ApproximateReceiveCount: "3",
      SentTimestamp: "1767225600000",
      DeadLetterQueueSourceArn: q.arn,
    });
  });

  test("wakes a poll that waits on the dead-letter queue", async () => {
    const { q, dlq, useUp } = await setup();
    await q.send("a");
    await useUp();
    const poll = dlq.bodies({ WaitTimeSeconds: 20 });
    await q.receive();

    expect(await poll).toEqual(["a"]);
  });

  test("is counted apart from what producers sent and workers deleted", async () => {
    const { account, q, useUp } = await setup();
    await q.send("a");
    await useUp();
    await q.receive();

    const { sent, deleted, movedToDeadLetter } = reportOf(account, "jobs");
    expect({ sent, deleted, movedToDeadLetter }).toEqual({
      sent: 1,
      deleted: 0,
      movedToDeadLetter: 1,
    });
    expect(reportOf(account, "dead")).toMatchObject({ sent: 0, arrivedDeadLettered: 1 });
  });

  test("takes a count that is written as text", async () => {
    const { q, dlq, useUp } = await setup("2");
    await q.send("a");
    await useUp();
    await q.receive();

    expect(dlq.counts().visible).toBe(1);
  });

  test("stops when it is taken away", async () => {
    const { account, q, dlq, useUp } = await setup();
    await q.send("a");
    await useUp();
    const Attributes = { RedrivePolicy: "" };
    await account.perform("SetQueueAttributes", { QueueUrl: q.QueueUrl, Attributes });

    expect(await q.bodies()).toEqual(["a"]);
    expect(dlq.counts().visible).toBe(0);
  });

  test.each([
    ["a target that does not exist", { deadLetterTargetArn: "nope", maxReceiveCount: 1 }],
    ["no target", { maxReceiveCount: 1 }],
    ["no count", { deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead" }],
    [
      "a count of zero",
      { deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead", maxReceiveCount: 0 },
    ],
    [
      "a target of the other kind",
      { deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:dead.fifo", maxReceiveCount: 1 },
    ],
  ])("is refused with %s", async (_what, policy) => {
    const { queue, fifo } = await setup();
    await fifo("dead");

    expect(await resultOf(queue("other", { RedrivePolicy: JSON.stringify(policy) }))).toBe(
      "InvalidParameterValue",
    );
  });
});

describe("a redrive policy of a FIFO queue", () => {
  test("keeps the order of a group, in the queue and in the dead-letter queue", async () => {
    const { fifo } = setupAccount();
    const dlq = await fifo("dead");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 1 });
    const q = await fifo("orders", { RedrivePolicy });
    for (const body of ["a", "b", "c"]) await q.send(body, { MessageGroupId: "g" });
    for (const { ReceiptHandle } of await q.receive({ MaxNumberOfMessages: 2 })) {
      await q.change(ReceiptHandle, 0);
    }

    expect(await q.bodies()).toEqual(["c"]);
    expect(await dlq.bodies()).toEqual(["a", "b"]);
  });
});
