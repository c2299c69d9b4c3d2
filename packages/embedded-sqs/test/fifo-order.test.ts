import { describe, expect, test } from "vitest";
import { only, reportOf, resultOf, setupAccount } from "./account-setup.ts";

async function setup(attributes: Record<string, string> = {}) {
  const { clock, account, fifo } = setupAccount();
  const q = await fifo("orders", { VisibilityTimeout: "30", ...attributes });
  /** Sends each text to the group that its first letter names. */
  const send = async (...bodies: string[]) => {
    for (const body of bodies) await q.send(body, { MessageGroupId: body.slice(0, 1) });
  };
  return { clock, account, q, send };
}

describe("a FIFO queue", () => {
  test("gives as many messages of one group as it can before it turns to the next", async () => {
    const { q, send } = await setup();
    await send("a1", "b1", "a2", "b2", "a3");

    expect(await q.bodies({ MaxNumberOfMessages: 4 })).toEqual(["a1", "a2", "a3", "b1"]);
  });

  test("gives nothing of a group while a message of it is in flight", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "b1");
    await q.receive({ MaxNumberOfMessages: 1 });

    expect(await q.bodies()).toEqual(["b1"]);
    expect(await q.bodies()).toEqual([]);
  });

  test("gives what was released before what follows it, and stops at what is still held", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "a3");
    const [first] = await q.receive({ MaxNumberOfMessages: 2 });
    await q.change(first?.ReceiptHandle ?? "", 0);

    expect(await q.bodies()).toEqual(["a1"]);
  });

  test("goes on in order when the held messages were released in any order", async () => {
    const { q, send } = await setup();
    await send("a1", "a2", "a3");
    const held = await q.receive({ MaxNumberOfMessages: 2 });
    for (const { ReceiptHandle } of held.reverse()) await q.change(ReceiptHandle, 0);

    expect(await q.bodies()).toEqual(["a1", "a2", "a3"]);
  });

  test("goes on in order when visibility timeouts have ended", async () => {
    const { clock, q, send } = await setup();
    await send("a1", "a2", "a3");
    await q.receive({ MaxNumberOfMessages: 2 });
    await clock.advance(30_000);

    expect(await q.bodies()).toEqual(["a1", "a2", "a3"]);
  });

  test("blocks a group behind a message that is delayed", async () => {
    const { clock, q, send } = await setup({ DelaySeconds: "5" });
    await send("a1");
    await clock.advance(3_000);
    await send("a2");
    await clock.advance(2_000);

    expect(await q.bodies()).toEqual(["a1"]);
  });

  test("refuses a handle whose time is over, for a delete", async () => {
    const { clock, q, send } = await setup();
    await send("a1");
    const { ReceiptHandle } = only(await q.receive());
    await clock.advance(30_000);

    expect(await resultOf(q.remove(ReceiptHandle))).toBe("InvalidParameterValue");
    expect(await resultOf(q.change(ReceiptHandle, 10))).toBe("ok");
    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });

  test("refuses a stale handle altogether once somebody else holds the message", async () => {
    const { clock, q, send } = await setup();
    await send("a1");
    const { ReceiptHandle } = only(await q.receive());
    await clock.advance(30_000);
    await q.receive();

    expect(await resultOf(q.remove(ReceiptHandle))).toBe("InvalidParameterValue");
    expect(await resultOf(q.change(ReceiptHandle, 0))).toBe("InvalidParameterValue");
    expect(q.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
  });

  test("wants a group, and takes no delay of a single message", async () => {
    const { q } = await setup();

    expect(await resultOf(q.send("a"))).toBe("MissingParameter");
    expect(await resultOf(q.send("a", { MessageGroupId: "g", DelaySeconds: 5 }))).toBe(
      "InvalidParameterValue",
    );
  });
});

describe("deduplication", () => {
  test("takes the second of two equal sends for the first, for five minutes", async () => {
    const { clock, account, q } = await setup();
    const send = (body: string) => q.send(body, { MessageGroupId: "g" });
    const first = await send("a");
    await clock.advance(299_999);
    expect(await send("a")).toBe(first);
    await clock.advance(1);
    expect(await send("a")).not.toBe(first);

    const { sent, deduplicated } = reportOf(account, "orders.fifo");
    expect({ sent, deduplicated }).toEqual({ sent: 2, deduplicated: 1 });
  });

  test("remembers a message that was deleted", async () => {
    const { q } = await setup();
    await q.send("a", { MessageGroupId: "g" });
    await q.remove(only(await q.receive()).ReceiptHandle);

    await q.send("a", { MessageGroupId: "g" });

    expect(await q.bodies()).toEqual([]);
  });

  test("goes by the id that was given, whatever the body", async () => {
    const { q } = await setup();
    await q.send("a", { MessageGroupId: "g", MessageDeduplicationId: "1" });
    await q.send("b", { MessageGroupId: "g", MessageDeduplicationId: "1" });
    await q.send("a", { MessageGroupId: "g", MessageDeduplicationId: "2" });

    expect(await q.bodies()).toEqual(["a", "a"]);
  });

  test("holds within a group only, when the queue says so", async () => {
    const { q } = await setup({ DeduplicationScope: "messageGroup" });
    for (const MessageGroupId of ["g", "h", "g"]) await q.send("a", { MessageGroupId });

    expect(await q.bodies()).toEqual(["a", "a"]);
  });

  test("wants an id when the queue derives none from the body", async () => {
    const { q } = await setup({ ContentBasedDeduplication: "false" });

    expect(await resultOf(q.send("a", { MessageGroupId: "g" }))).toBe("InvalidParameterValue");
  });

  test("is not for standard queues", async () => {
    const q = await setupAccount().queue("jobs");

    expect(await resultOf(q.send("a", { MessageDeduplicationId: "1" }))).toBe(
      "InvalidParameterValue",
    );
  });
});

describe("a receive that is repeated with the same attempt id", () => {
  test("gets the same messages with the same handles, hidden anew", async () => {
    const { clock, q, send } = await setup();
    await send("a1", "b1");
    const first = await q.receive({ ReceiveRequestAttemptId: "try" });
    await clock.advance(20_000);

    expect(await q.receive({ ReceiveRequestAttemptId: "try" })).toEqual(first);

    await clock.advance(29_999);
    expect(q.counts()).toEqual({ visible: 0, inFlight: 2, delayed: 0 });
  });

  test("is a new receive when a message was released, or its time is over", async () => {
    const { clock, q, send } = await setup();
    await send("a1");
    const first = only(await q.receive({ ReceiveRequestAttemptId: "try" }));
    await q.change(first.ReceiptHandle, 0);
    const second = only(await q.receive({ ReceiveRequestAttemptId: "try" }));
    await clock.advance(30_000);
    const third = only(await q.receive({ ReceiveRequestAttemptId: "try" }));

    const counts = [first, second, third].map(
      ({ Attributes }) => Attributes?.["ApproximateReceiveCount"],
    );
    expect(counts).toEqual(["1", "2", "3"]);
  });

  test("is a new receive when a message was extended", async () => {
    const { q, send } = await setup();
    await send("a1");
    const { ReceiptHandle } = only(await q.receive({ ReceiveRequestAttemptId: "try" }));
    await q.change(ReceiptHandle, 60);

    expect(await q.bodies({ ReceiveRequestAttemptId: "try" })).toEqual([]);
  });

  test("is a new receive after five minutes", async () => {
    const { clock, q, send } = await setup({ VisibilityTimeout: "600" });
    await send("a1");
    await q.receive({ ReceiveRequestAttemptId: "try" });
    await clock.advance(300_000);

    expect(await q.bodies({ ReceiveRequestAttemptId: "try" })).toEqual([]);
  });
});
