import type { RequestAnswered, RequestBegun } from "@leasehold/embedded-sqs";
import { describe, expect, test } from "vitest";
import { only, resultOf, setupAccount } from "./account-setup.ts";

async function setup() {
  const events: (RequestBegun | RequestAnswered)[] = [];
  const { clock, account, queue } = setupAccount({ onRequest: (event) => events.push(event) });
  const q = await queue("jobs");
  events.length = 0;
  const answered = () => events.filter((event) => event.kind === "answered");
  return { clock, account, q, events, answered };
}

describe("the request log", () => {
  test("tells when a poll came and when it was answered", async () => {
    const { clock, q, events } = await setup();
    const poll = q.receive({ WaitTimeSeconds: 20 });
    await clock.advance(20_000);
    await poll;

    const request = {
      requestNumber: 2,
      action: "ReceiveMessage",
      queueName: "jobs",
      startedAtMs: Date.UTC(2026, 0, 1),
    };
    expect(events).toEqual([
      { kind: "begun", ...request },
      {
        kind: "answered",
        ...request,
        endedAtMs: Date.UTC(2026, 0, 1) + 20_000,
        result: "ok",
        entries: [],
        isClientGone: false,
      },
    ]);
  });

  test("tells what happened to which message", async () => {
    const { q, answered } = await setup();
    const messageId = await q.send("a");
    const { ReceiptHandle: receiptHandle } = only(await q.receive());
    await q.change(receiptHandle, 0);
    await q.change(receiptHandle, 0);
    await q.remove(receiptHandle);
    await q.remove(receiptHandle);

    const about = { messageId, receiptHandle };
    expect(answered().flatMap(({ entries }) => entries)).toEqual([
      { messageId, outcome: "sent" },
      { ...about, receiveCount: 1, outcome: "received" },
      { ...about, visibilityTimeoutSeconds: 0, outcome: "changed" },
      { ...about, visibilityTimeoutSeconds: 0, outcome: "no-effect" },
      { ...about, outcome: "deleted" },
      { ...about, outcome: "no-effect" },
    ]);
  });

  test("tells why a request was refused, as a whole and entry by entry", async () => {
    const { account, q, answered } = await setup();
    const { QueueUrl } = q;
    await resultOf(q.remove("garbage"));
    await account.perform("ChangeMessageVisibilityBatch", {
      QueueUrl,
      Entries: [{ Id: "a", ReceiptHandle: "garbage", VisibilityTimeout: 5 }],
    });

    expect(answered().map(({ result, entries }) => [result, entries])).toEqual([
      ["ReceiptHandleIsInvalid", [{ receiptHandle: "garbage", outcome: "ReceiptHandleIsInvalid" }]],
      [
        "ok",
        [
          {
            receiptHandle: "garbage",
            visibilityTimeoutSeconds: 5,
            outcome: "ReceiptHandleIsInvalid",
          },
        ],
      ],
    ]);
  });

  test("tells that nobody was there to take what a poll brought", async () => {
    const { q, answered } = await setup();
    const client = new AbortController();
    const poll = q.receive({ WaitTimeSeconds: 20 }, client.signal).catch(() => {});
    client.abort();
    await poll;
    const messageId = await q.send("a");

    expect(answered()).toMatchObject([
      { action: "ReceiveMessage", isClientGone: true, entries: [{ messageId }] },
      { action: "SendMessage", isClientGone: false },
    ]);
  });
});
