import { describe, expect, test } from "vitest";
import { only, reportOf, resultOf, setupAccount } from "./account-setup.ts";

/** A dead-letter queue that holds `count` messages of its source. */
async function setup(count = 1) {
  const { clock, account, queue } = setupAccount();
  const dlq = await queue("dead");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 1 });
  const q = await queue("jobs", { RedrivePolicy });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await q.send(`job ${index}`));
  while (q.counts().visible > 0) await q.receive({ VisibilityTimeout: 0 });
  const start = (more = {}) =>
    account.perform("StartMessageMoveTask", { SourceArn: dlq.arn, ...more });
  const list = async () =>
    (await account.perform("ListMessageMoveTasks", { SourceArn: dlq.arn, MaxResults: 10 })).Results;
  return { clock, account, queue, q, dlq, ids, start, list };
}

describe("a move task", () => {
  test("brings messages back to their source as new ones", async () => {
    const { clock, q, ids, start, list } = await setup();
    await clock.advance(60_000);
    await start();
    await clock.advance(0);

    const message = only(await q.receive());
    expect(message.Body).toBe("job 0");
    expect(message.MessageId).not.toBe(ids[0]);
    expect(message.Attributes).toEqual({
      SenderId: "000000000000",
      SentTimestamp: "1767225660000",
      ApproximateReceiveCount: "1",
      ApproximateFirstReceiveTimestamp: "1767225660000",
    });
    expect(await list()).toMatchObject([
      {
        Status: "COMPLETED",
        ApproximateNumberOfMessagesMoved: 1,
        ApproximateNumberOfMessagesToMove: 1,
      },
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("brings them elsewhere when it is told to", async () => {
    const { clock, queue, q, start } = await setup();
    const other = await queue("other");
    await start({ DestinationArn: other.arn });
    await clock.advance(0);

    expect(await other.bodies()).toEqual(["job 0"]);
    expect(await q.bodies()).toEqual([]);
  });

  test("keeps its pace, and stays where it is when it is cancelled", async () => {
    const { clock, account, dlq, start, list } = await setup(20);
    const { TaskHandle } = await start({ MaxNumberOfMessagesPerSecond: 10 });
    await clock.advance(400);
    expect(dlq.counts().visible).toBe(15);

    const cancelled = await account.perform("CancelMessageMoveTask", { TaskHandle });
    await clock.advance(5_000);

    expect(cancelled).toEqual({ ApproximateNumberOfMessagesMoved: 5 });
    expect(dlq.counts().visible).toBe(15);
    expect(await list()).toMatchObject([{ Status: "CANCELLED" }]);
    expect(await resultOf(account.perform("CancelMessageMoveTask", { TaskHandle }))).toBe(
      "InvalidParameterValue",
    );
  });

  test("is counted at both ends", async () => {
    const { clock, account, start } = await setup(3);
    await start();
    await clock.advance(0);

    expect(reportOf(account, "dead")).toMatchObject({ arrivedDeadLettered: 3, redriven: 3 });
    expect(reportOf(account, "jobs")).toMatchObject({ sent: 3, arrivedRedriven: 3 });
  });

  test("fails on a message that was sent straight to the dead-letter queue", async () => {
    const { clock, dlq, start, list } = await setup(0);
    await dlq.send("a stray");
    await start();
    await clock.advance(0);

    expect(await list()).toMatchObject([
      { Status: "FAILED", FailureReason: "CouldNotDetermineMessageSource" },
    ]);
    expect(dlq.counts().visible).toBe(1);
  });

  test("runs alone on its queue, and only on a dead-letter queue", async () => {
    const { account, q, start } = await setup(2);
    await start({ MaxNumberOfMessagesPerSecond: 1 });

    expect(await resultOf(start())).toBe("InvalidParameterValue");
    expect(await resultOf(account.perform("StartMessageMoveTask", { SourceArn: q.arn }))).toBe(
      "InvalidParameterValue",
    );
    expect(await resultOf(account.perform("StartMessageMoveTask", { SourceArn: "nope" }))).toBe(
      "ResourceNotFoundException",
    );
  });
});
