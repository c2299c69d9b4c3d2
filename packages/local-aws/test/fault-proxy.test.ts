import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { ManualClock } from "@leasehold/clock/manual";
import { startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { type Fault, type FaultPlan, startFaultProxy } from "../index.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An embedded SQS with one queue, a proxy before it, and a client that tries once. */
async function setup(plan?: FaultPlan, options: { readonly logLimit?: number } = {}) {
  const clock = new ManualClock();
  const sqs = await startEmbeddedSqs({ clock });
  closing.push(() => sqs.close());
  const proxy = await startFaultProxy({
    target: sqs.endpoint,
    clock,
    ...options,
    ...(plan && { plan }),
  });
  closing.push(() => proxy.close());
  const client = new SQSClient({
    endpoint: proxy.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  closing.push(() => client.destroy());
  await sqs.account.perform("CreateQueue", { QueueName: "jobs" });
  const QueueUrl = `${proxy.endpoint}/000000000000/jobs`;
  const count = () => sqs.account.report().queues["jobs"];
  const send = (signal?: AbortSignal) =>
    client.send(
      new SendMessageCommand({ QueueUrl, MessageBody: "hello" }),
      signal === undefined ? {} : { abortSignal: signal },
    );
  /** Waits, in turns of the event loop, until the network has done its part. */
  const until = async (isSo: () => boolean) => {
    for (let turn = 0; turn < 10_000 && !isSo(); turn += 1) await clock.settle();
    expect(isSo()).toBe(true);
  };
  return { clock, sqs, proxy, client, QueueUrl, count, send, until };
}

const always = (fault: Fault): FaultPlan => ({ rules: [{ fault }] });

describe("the fault proxy", () => {
  test("passes what no rule is about, and writes down what came of it", async () => {
    const { proxy, client, QueueUrl, send } = await setup();
    await send();
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    const { MessageId, ReceiptHandle } = Messages[0] ?? {};
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "a", ReceiptHandle, VisibilityTimeout: 7 },
          { Id: "b", ReceiptHandle: "nonsense", VisibilityTimeout: 0 },
        ],
      }),
    );
    const atMs = Date.UTC(2026, 0, 1);
    const times = {
      arrivedAtMs: atMs,
      forwardedAtMs: atMs,
      answeredAtMs: atMs,
      repliedAtMs: atMs,
      status: 200,
      stage: "over",
    };
    expect(proxy.log).toMatchObject([
      { requestNumber: 1, action: "SendMessage", resource: "jobs", nth: 1, ...times },
      {
        requestNumber: 2,
        action: "ReceiveMessage",
        entries: [{ messageId: MessageId, receiptHandle: ReceiptHandle, outcome: "ok" }],
        ...times,
      },
      {
        requestNumber: 3,
        action: "ChangeMessageVisibilityBatch",
        entries: [
          { id: "a", receiptHandle: ReceiptHandle, visibilityTimeoutSeconds: 7, outcome: "ok" },
          { id: "b", receiptHandle: "nonsense", outcome: "ReceiptHandleIsInvalid" },
        ],
        ...times,
      },
    ]);
  });

  test.each([
    ["throttle", { kind: "throttle" }, "RequestThrottled", 403],
    [
      "the other throttle",
      { kind: "throttle", code: "ThrottlingException" },
      "ThrottlingException",
      400,
    ],
    [
      "a server error before the effect",
      { kind: "server-error", side: "before" },
      "InternalFailure",
      500,
    ],
    [
      "a service that is away",
      { kind: "server-error", side: "before", status: 503 },
      "ServiceUnavailable",
      503,
    ],
  ] as const)("refuses without effect: %s", async (_name, fault, name, status) => {
    const { proxy, count, send } = await setup(always(fault));
    await expect(send()).rejects.toMatchObject({ name, $metadata: { httpStatusCode: status } });
    expect(count()).toMatchObject({ sent: 0 });
    expect(proxy.log[0]).toMatchObject({ fault, status });
    expect(proxy.log[0]?.forwardedAtMs).toBeUndefined();
  });

  test("answers 500 for what was done", async () => {
    const { count, send } = await setup(always({ kind: "server-error", side: "after" }));
    await expect(send()).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
    expect(count()).toMatchObject({ sent: 1 });
  });

  test.each([
    ["before", 0],
    ["after", 1],
  ] as const)("resets the connection %s the effect", async (side, sent) => {
    const { proxy, count, send } = await setup(always({ kind: "reset", side }));
    await expect(send()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(count()).toMatchObject({ sent });
    expect(proxy.log[0]?.status).toBeUndefined();
  });

  test.each([
    ["hung", 0],
    ["lost-reply", 1],
  ] as const)("never answers: %s", async (kind, sent) => {
    const { clock, proxy, count, send, until } = await setup(always({ kind }));
    const patience = new AbortController();
    const answer = send(patience.signal);
    await until(() => proxy.log[0]?.stage === "held" && count()?.sent === sent);
    await clock.advance(3_600_000);
    expect(proxy.log[0]).toMatchObject({ stage: "held" });
    patience.abort();
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    await until(() => proxy.log[0]?.stage === "over");
    expect(proxy.log[0]?.clientGoneAtMs).toBe(Date.UTC(2026, 0, 1, 1));
    expect(proxy.log[0]?.repliedAtMs).toBeUndefined();
  });

  test("lets a late request take effect for a client that has gone", async () => {
    const { clock, proxy, count, send, until } = await setup(
      always({ kind: "latency", side: "before", delayMs: 2_000 }),
    );
    const patience = new AbortController();
    const answer = send(patience.signal);
    await until(() => proxy.log[0]?.stage === "held");
    await clock.advance(1_000);
    patience.abort();
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    expect(count()).toMatchObject({ sent: 0 });
    await clock.advance(1_000);
    await until(() => proxy.log[0]?.stage === "over");
    expect(count()).toMatchObject({ sent: 1 });
  });

  test.each([
    ["late", { kind: "latency", side: "after", delayMs: 2_000 }],
    ["slowly", { kind: "slow-body", durationMs: 2_000 }],
  ] as const)("answers %s", async (_how, fault) => {
    const { clock, count, send, until } = await setup(always(fault));
    let isAnswered = false;
    const answer = send().then(() => {
      isAnswered = true;
    });
    await until(() => count()?.sent === 1);
    await until(() => clock.pendingTimers === 1);
    for (let tenth = 0; tenth < 9; tenth += 1) {
      await clock.advance(200);
      if (fault.kind === "slow-body") await until(() => clock.pendingTimers === 1);
    }
    await clock.advance(199);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    await answer;
  });

  test("fails every other entry of a batch, and does the rest", async () => {
    const { sqs, proxy, client, QueueUrl, count, send } = await setup();
    for (let n = 0; n < 3; n += 1) await send();
    const input = { QueueUrl, MaxNumberOfMessages: 10 };
    const { Messages = [] } = await sqs.account.perform("ReceiveMessage", input);
    proxy.setPlan(always({ kind: "failed-entries" }));
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({
      Id: `e${index}`,
      ReceiptHandle,
    }));
    const { Successful, Failed } = await client.send(
      new DeleteMessageBatchCommand({ QueueUrl, Entries }),
    );
    expect(Successful).toEqual([{ Id: "e1" }]);
    expect(Failed).toMatchObject([
      { Id: "e0", Code: "InternalError", SenderFault: false },
      { Id: "e2", Code: "InternalError", SenderFault: false },
    ]);
    expect(count()).toMatchObject({ deleted: 1 });
    expect(proxy.log.at(-1)?.entries.map(({ outcome }) => outcome)).toEqual([
      "InternalError",
      "ok",
      "InternalError",
    ]);
  });

  test("passes what has no entries when entries are to fail", async () => {
    const { proxy, count, send } = await setup(always({ kind: "failed-entries" }));
    await send();
    expect(count()).toMatchObject({ sent: 1 });
    expect(proxy.log[0]?.fault).toBeUndefined();
  });

  test("counts each action by itself, and anew with each plan", async () => {
    const second = { rules: [{ fault: { kind: "throttle" }, nth: [2] }] } as const;
    const { proxy, client, QueueUrl, send } = await setup(second);
    await send();
    await client.send(new ReceiveMessageCommand({ QueueUrl }));
    await expect(send()).rejects.toMatchObject({ name: "RequestThrottled" });
    proxy.setPlan(second);
    await send();
    await expect(send()).rejects.toMatchObject({ name: "RequestThrottled" });
    proxy.clear();
    await send();
  });

  test("keeps no more of its log than it is told", async () => {
    const { proxy, send } = await setup(undefined, { logLimit: 2 });
    for (let n = 0; n < 4; n += 1) await send();
    expect(proxy.log.map(({ requestNumber }) => requestNumber)).toEqual([3, 4]);
  });

  test("refuses a plan and a target that make no sense", async () => {
    const rules = [
      { fault: { kind: "latency", side: "after", delayMs: -1 }, nth: [0] },
      { fault: { kind: "hung" }, chance: 2 },
    ] as const;
    await expect(
      startFaultProxy({ target: "http://127.0.0.1:1", plan: { rules } }),
    ).rejects.toThrow(
      "rule 1: delayMs must be 0 or more, got -1; rule 1: nth counts from 1 in whole numbers, " +
        "got 0; rule 2: chance must be between 0 and 1, got 2",
    );
    await expect(startFaultProxy({ target: "127.0.0.1" })).rejects.toThrow("http URL");
  });

  test("resets the client when its target is not there", async () => {
    const { sqs, send } = await setup();
    await sqs.close();
    await expect(send()).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  test("closes at once, whatever it holds, and leaves no timer", async () => {
    const { clock, proxy, send, until } = await setup({
      rules: [
        { fault: { kind: "hung" }, nth: [1] },
        { fault: { kind: "latency", side: "before", delayMs: 60_000 }, nth: [2] },
        { fault: { kind: "slow-body", durationMs: 60_000 }, nth: [3] },
      ],
    });
    const answers = [send(), send(), send()].map((answer) => answer.catch(() => "broken"));
    await until(() => proxy.log.length === 3 && clock.pendingTimers === 2);
    await Promise.all([proxy.close(), proxy.close()]);
    expect(await Promise.all(answers)).toEqual(["broken", "broken", "broken"]);
    expect(clock.pendingTimers).toBe(0);
  });
});
