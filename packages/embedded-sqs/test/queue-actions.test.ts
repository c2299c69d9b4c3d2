import { describe, expect, test } from "vitest";
import { resultOf, setupAccount } from "./account-setup.ts";

describe("creating a queue", () => {
  test("gives the queue that is there when nothing differs", async () => {
    const { account, queue } = setupAccount();
    const first = await queue("jobs", { VisibilityTimeout: "40" });
    await first.send("a");

    expect((await queue("jobs", { VisibilityTimeout: "40" })).QueueUrl).toBe(first.QueueUrl);
    expect((await queue("jobs")).counts().visible).toBe(1);
    expect(first.QueueUrl).toBe("http://localhost/000000000000/jobs");
    expect(await resultOf(queue("jobs", { VisibilityTimeout: "41" }))).toBe("QueueNameExists");
    expect(account.report().requests["CreateQueue"]).toBe(4);
  });

  test("takes a redrive policy for the same however it is written", async () => {
    const { queue } = setupAccount();
    const dlq = await queue("dead");
    await queue("jobs", {
      RedrivePolicy: `{"deadLetterTargetArn":"${dlq.arn}","maxReceiveCount":"5"}`,
    });
    const again = queue("jobs", {
      RedrivePolicy: `{ "maxReceiveCount": 5, "deadLetterTargetArn": "${dlq.arn}" }`,
    });

    expect(await resultOf(again)).toBe("ok");
  });

  test.each([
    ["a b", {}, "InvalidParameterValue"],
    ["a".repeat(81), {}, "InvalidParameterValue"],
    ["orders.fifo", {}, "InvalidParameterValue"],
    ["orders", { FifoQueue: "true" }, "InvalidParameterValue"],
    ["orders", { FifoQueue: "false" }, "InvalidAttributeName"],
    ["orders.fifo", { FifoQueue: "true" }, "ok"],
    ["jobs", { VisibilityTimeout: "43201" }, "InvalidAttributeValue"],
    ["jobs", { VisibilityTimeout: "1.5" }, "InvalidAttributeValue"],
    ["jobs", { MaximumMessageSize: "1023" }, "InvalidAttributeValue"],
    ["jobs", { MessageRetentionPeriod: "59" }, "InvalidAttributeValue"],
    ["jobs", { ReceiveMessageWaitTimeSeconds: "21" }, "InvalidAttributeValue"],
    ["jobs", { DelaySeconds: "901" }, "InvalidAttributeValue"],
    ["jobs", { RedriveAllowPolicy: "no json" }, "InvalidAttributeValue"],
    ["jobs", { ContentBasedDeduplication: "true" }, "InvalidAttributeName"],
    ["jobs", { Nonsense: "1" }, "InvalidAttributeName"],
  ])("%s with %j: %s", async (name, attributes, expected) => {
    expect(await resultOf(setupAccount().queue(name, attributes))).toBe(expected);
  });
});

describe("a queue", () => {
  test("is found by the path of its URL, whatever host stands in it", async () => {
    const { account, queue } = setupAccount();
    await queue("jobs");
    const send = (QueueUrl: string) =>
      resultOf(account.perform("SendMessage", { QueueUrl, MessageBody: "x" }));

    expect(await send("http://sqs.eu-west-1.amazonaws.com/000000000000/jobs")).toBe("ok");
    expect(await send("/000000000000/jobs")).toBe("ok");
    expect(await send("http://localhost/111111111111/jobs")).toBe("QueueDoesNotExist");
    expect(await send("http://localhost/000000000000/nope")).toBe("QueueDoesNotExist");
    expect(await send("nonsense")).toBe("InvalidAddress");
  });

  test("shows its attributes and exact counts", async () => {
    const { clock, account, queue } = setupAccount();
    const q = await queue("jobs", { VisibilityTimeout: "40" });
    await clock.advance(5_000);
    const { QueueUrl } = q;
    await account.perform("SetQueueAttributes", { QueueUrl, Attributes: { DelaySeconds: "1" } });
    await q.send("a");
    await q.send("b", { DelaySeconds: 0 });
    await q.send("c", { DelaySeconds: 0 });
    await q.receive({ MaxNumberOfMessages: 1 });

    const AttributeNames = ["All"];
    expect(await account.perform("GetQueueAttributes", { QueueUrl, AttributeNames })).toEqual({
      Attributes: {
        ApproximateNumberOfMessages: "1",
        ApproximateNumberOfMessagesDelayed: "1",
        ApproximateNumberOfMessagesNotVisible: "1",
        CreatedTimestamp: "1767225600",
        DelaySeconds: "1",
        LastModifiedTimestamp: "1767225605",
        MaximumMessageSize: "1048576",
        MessageRetentionPeriod: "345600",
        QueueArn: "arn:aws:sqs:us-east-1:000000000000:jobs",
        ReceiveMessageWaitTimeSeconds: "0",
        SqsManagedSseEnabled: "true",
        VisibilityTimeout: "40",
      },
    });
  });

  test("shows one attribute when one is asked for, and refuses one that does not exist", async () => {
    const { account, queue } = setupAccount();
    const { QueueUrl } = await queue("jobs");
    const get = (...AttributeNames: string[]) =>
      account.perform("GetQueueAttributes", { QueueUrl, AttributeNames });

    expect(await get("DelaySeconds")).toEqual({ Attributes: { DelaySeconds: "0" } });
    expect(await get("RedrivePolicy")).toEqual({});
    expect(await resultOf(get("Nonsense"))).toBe("InvalidAttributeName");
  });

  test("is emptied by a purge, once in 60 seconds", async () => {
    const { clock, account, queue } = setupAccount();
    const q = await queue("jobs");
    await q.send("a");
    await q.send("b");
    await q.receive({ MaxNumberOfMessages: 1 });
    const purge = () => resultOf(account.perform("PurgeQueue", { QueueUrl: q.QueueUrl }));

    expect(await purge()).toBe("ok");
    expect(q.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    await clock.advance(59_999);
    expect(await purge()).toBe("PurgeQueueInProgress");
    await clock.advance(1);
    expect(await purge()).toBe("ok");
  });

  test("is gone with its messages when it is deleted", async () => {
    const { account, queue } = setupAccount();
    const q = await queue("jobs");
    await q.send("a");
    await account.perform("DeleteQueue", { QueueUrl: q.QueueUrl });

    expect(await resultOf(q.receive())).toBe("QueueDoesNotExist");
    expect((await queue("jobs")).counts().visible).toBe(0);
  });

  test("carries tags", async () => {
    const { account, queue } = setupAccount();
    const { QueueUrl } = await queue("jobs");
    await account.perform("TagQueue", { QueueUrl, Tags: { a: "1", b: "2" } });
    await account.perform("UntagQueue", { QueueUrl, TagKeys: ["a"] });

    expect(await account.perform("ListQueueTags", { QueueUrl })).toEqual({ Tags: { b: "2" } });
  });
});

describe("listing", () => {
  test("gives the queues page by page", async () => {
    const { account, queue } = setupAccount();
    for (const name of ["b2", "a1", "b1", "b3"]) await queue(name);
    const list = (more = {}) =>
      account.perform("ListQueues", { QueueNamePrefix: "b", MaxResults: 2, ...more });
    const first = await list();
    const second = await list({ NextToken: first.NextToken });

    expect(first.QueueUrls).toEqual([
      "http://localhost/000000000000/b1",
      "http://localhost/000000000000/b2",
    ]);
    expect(second).toEqual({ QueueUrls: ["http://localhost/000000000000/b3"] });
  });

  test("gives the sources of a dead-letter queue", async () => {
    const { account, queue } = setupAccount();
    const dlq = await queue("dead");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 1 });
    await queue("jobs", { RedrivePolicy });
    await queue("other");
    const { QueueUrl } = dlq;

    expect(await account.perform("ListDeadLetterSourceQueues", { QueueUrl })).toEqual({
      queueUrls: ["http://localhost/000000000000/jobs"],
    });
  });
});
