import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import {
  BatchRequestTooLong,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  InvalidMessageContents,
  ListQueuesCommand,
  OverLimit,
  PurgeQueueCommand,
  PurgeQueueInProgress,
  QueueDoesNotExist,
  QueueNameExists,
  ReceiptHandleIsInvalid,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
  type SQSServiceException,
} from "@aws-sdk/client-sqs";
import { ManualClock } from "@leasehold/clock/manual";
import {
  type EmbeddedSqs,
  type EmbeddedSqsOptions,
  startEmbeddedSqs,
} from "@leasehold/embedded-sqs";
import { afterEach, describe, expect, test } from "vitest";
import { only, reportOf } from "./account-setup.ts";

const running: { sqs: EmbeddedSqs; client: SQSClient }[] = [];

afterEach(async () => {
  for (const { sqs, client } of running.splice(0)) {
    client.destroy();
    await sqs.close();
  }
});

async function setup(options: Partial<EmbeddedSqsOptions> = {}) {
  const clock = new ManualClock();
  const begun: (() => void)[] = [];
  const sqs = await startEmbeddedSqs({
    clock,
    onRequest: (event) => {
      if (event.kind === "begun" && event.action === "ReceiveMessage") begun.shift()?.();
    },
    ...options,
  });
  const client = new SQSClient({
    endpoint: sqs.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  running.push({ sqs, client });
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: "jobs" }));
  /** Resolves when the server has the next receive. */
  const nextReceive = () => new Promise<void>((resolve) => begun.push(resolve));
  const send = (MessageBody: string) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  return { clock, sqs, client, QueueUrl, nextReceive, send };
}

/** A request that no SDK would make. */
async function raw(endpoint: string, target: string, body: string | Buffer) {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "x-amz-target": target, "content-type": "application/x-amz-json-1.0" },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
  const { __type } = (await response.json()) as { __type?: string };
  return { status: response.status, __type };
}

describe("the SDK's client", () => {
  test("sends, receives and deletes, and finds every checksum right", async () => {
    const { client, QueueUrl } = await setup();
    const MessageAttributes = {
      tenant_id: { DataType: "String", StringValue: "t-1" },
      blob: { DataType: "Binary", BinaryValue: new Uint8Array([0, 1, 255]) },
    };
    await client.send(
      new SendMessageCommand({ QueueUrl, MessageBody: "grüße 😀", MessageAttributes }),
    );
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ["All"] }),
    );
    const message = only(Messages);

    expect(message.Body).toBe("grüße 😀");
    expect(message.MessageAttributes).toEqual(MessageAttributes);
    expect(message.MD5OfBody).toBe(createHash("md5").update("grüße 😀").digest("hex"));
  });

  test("checks the checksum itself, so a wrong one would be noticed", async () => {
    const { client, QueueUrl, send } = await setup();
    await send("x");
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const { Messages } = result.output as { Messages?: { Body?: string }[] };
        for (const message of Messages ?? []) message.Body = "y";
        return result;
      },
      { step: "deserialize", priority: "high" },
    );

    await expect(client.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toThrow(
      "Invalid MD5 checksum",
    );
  });

  test("gets its own error classes, with SQS's codes", async () => {
    const { client, QueueUrl, send } = await setup({ inFlightLimit: 1 });
    const errorOf = (answer: Promise<unknown>) =>
      answer.then(
        () => expect.fail("it was not refused"),
        (error: SQSServiceException & { readonly Code?: string }) => error,
      );
    await send("x");
    await client.send(new ReceiveMessageCommand({ QueueUrl }));

    const missing = await errorOf(client.send(new GetQueueUrlCommand({ QueueName: "nope" })));
    expect(missing).toBeInstanceOf(QueueDoesNotExist);
    expect(missing.Code).toBe("AWS.SimpleQueueService.NonExistentQueue");
    expect(missing.message).toBe("The specified queue does not exist.");
    const twice = new CreateQueueCommand({ QueueName: "jobs", Attributes: { DelaySeconds: "9" } });
    expect(await errorOf(client.send(twice))).toBeInstanceOf(QueueNameExists);
    expect(await errorOf(client.send(new ReceiveMessageCommand({ QueueUrl })))).toBeInstanceOf(
      OverLimit,
    );
    const garbage = { QueueUrl, ReceiptHandle: "garbage", VisibilityTimeout: 1 };
    expect(await errorOf(client.send(new ChangeMessageVisibilityCommand(garbage)))).toBeInstanceOf(
      ReceiptHandleIsInvalid,
    );
    expect(await errorOf(send("\u0000"))).toBeInstanceOf(InvalidMessageContents);
    const Entries = ["a", "b"].map((Id) => ({ Id, MessageBody: "x".repeat(600_000) }));
    expect(
      await errorOf(client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))),
    ).toBeInstanceOf(BatchRequestTooLong);
    await client.send(new PurgeQueueCommand({ QueueUrl }));
    expect(await errorOf(client.send(new PurgeQueueCommand({ QueueUrl })))).toBeInstanceOf(
      PurgeQueueInProgress,
    );
    const tooMany = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 11 });
    expect((await errorOf(client.send(tooMany))).name).toBe("InvalidParameterValue");
  });

  test("gets an answer for each entry of a batch", async () => {
    const { client, QueueUrl, send } = await setup();
    await send("x");
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    const ReceiptHandle = only(Messages).ReceiptHandle ?? "";
    const changed = await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "good", ReceiptHandle, VisibilityTimeout: 60 },
          { Id: "long", ReceiptHandle, VisibilityTimeout: 50_000 },
          { Id: "garbage", ReceiptHandle: "nope", VisibilityTimeout: 60 },
        ],
      }),
    );
    const deleted = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: "good", ReceiptHandle },
          { Id: "garbage", ReceiptHandle: "nope" },
        ],
      }),
    );

    expect(changed.Successful?.map(({ Id }) => Id)).toEqual(["good"]);
    expect(changed.Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault])).toEqual([
      ["long", "InvalidParameterValue", true],
      ["garbage", "ReceiptHandleIsInvalid", true],
    ]);
    expect(deleted.Successful?.map(({ Id }) => Id)).toEqual(["good"]);
    expect(deleted.Failed?.map(({ Id, Code }) => [Id, Code])).toEqual([
      ["garbage", "ReceiptHandleIsInvalid"],
    ]);
  });

  test("gets queue URLs that begin where it called", async () => {
    const { sqs, client, QueueUrl } = await setup();
    const { QueueUrls } = await client.send(new ListQueuesCommand({}));

    expect(QueueUrl).toBe(`${sqs.endpoint}/000000000000/jobs`);
    expect(QueueUrls).toEqual([QueueUrl]);
  });
});

describe("a long poll over HTTP", () => {
  test("is answered when a message comes", async () => {
    const { client, QueueUrl, nextReceive, send } = await setup();
    const begun = nextReceive();
    const poll = client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
    await begun;
    await send("x");

    expect((await poll).Messages?.map(({ Body }) => Body)).toEqual(["x"]);
  });

  test("whose client has gone swallows the message that comes, as AWS's does", async () => {
    const { clock, sqs, client, QueueUrl, nextReceive, send } = await setup();
    const begun = nextReceive();
    const aborting = new AbortController();
    const poll = client
      .send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), {
        abortSignal: aborting.signal,
      })
      .catch((error) => error.name);
    await begun;
    aborting.abort();
    expect(await poll).toBe("AbortError");
    await send("x");

    const live = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(live.Messages).toBeUndefined();
    expect(reportOf(sqs.account, "jobs")).toMatchObject({ inFlight: 1, received: 1 });
    await clock.advance(30_000);
    expect(reportOf(sqs.account, "jobs")).toMatchObject({ visible: 1, lapsed: 1 });
  });

  test("ends with nothing when the endpoint stops", async () => {
    const { sqs, client, QueueUrl, nextReceive } = await setup();
    const begun = nextReceive();
    const poll = client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }));
    await begun;
    await sqs.close();
    await sqs.close();

    expect((await poll).Messages).toBeUndefined();
  });
});

describe("the endpoint", () => {
  test("tells its health and its own counts", async () => {
    const { sqs, send } = await setup();
    await send("x");
    const health = await fetch(`${sqs.endpoint}/health`);
    const stats = await (await fetch(`${sqs.endpoint}/stats`)).json();

    expect(health.status).toBe(200);
    expect(stats).toMatchObject({
      queues: { jobs: { sent: 1, visible: 1, deleted: 0 } },
      requests: { CreateQueue: 1, SendMessage: 1 },
    });
    expect((await fetch(`${sqs.endpoint}/nope`)).status).toBe(404);
  });

  test.each<[string, string, string | Buffer, number, string]>([
    ["an action that does not exist", "AmazonSQS.Nope", "{}", 400, "UnknownOperationException"],
    ["another service", "DynamoDB_20120810.GetItem", "{}", 400, "UnknownOperationException"],
    ["a body that is no JSON", "AmazonSQS.ListQueues", "{", 400, "SerializationException"],
    ["a body that is no object", "AmazonSQS.ListQueues", "[]", 400, "SerializationException"],
    [
      "a body that is no UTF-8",
      "AmazonSQS.ListQueues",
      Buffer.from([0x22, 0xff, 0x22]),
      400,
      "SerializationException",
    ],
    [
      "a text for a number",
      "AmazonSQS.ReceiveMessage",
      '{"MaxNumberOfMessages":"1"}',
      400,
      "SerializationException",
    ],
    [
      "a number for a text",
      "AmazonSQS.ReceiveMessage",
      '{"QueueUrl":1}',
      400,
      "SerializationException",
    ],
    [
      "entries that are no list",
      "AmazonSQS.SendMessageBatch",
      '{"Entries":{}}',
      400,
      "SerializationException",
    ],
    [
      "an attribute that is no object",
      "AmazonSQS.SendMessage",
      '{"MessageAttributes":{"a":1}}',
      400,
      "SerializationException",
    ],
    ["no queue", "AmazonSQS.ReceiveMessage", "{}", 400, "MissingParameter"],
    [
      "a prototype for a queue",
      "AmazonSQS.ReceiveMessage",
      '{"__proto__":{"QueueUrl":"x"}}',
      400,
      "MissingParameter",
    ],
  ])("refuses %s", async (_what, target, body, status, name) => {
    const { sqs } = await setup();

    expect(await raw(sqs.endpoint, target, body)).toEqual({
      status,
      __type: `com.amazonaws.sqs#${name}`,
    });
  });

  test("takes a message at the edge of 1 MiB in which every character is escaped", async () => {
    const { sqs, QueueUrl } = await setup();
    const body = `{"QueueUrl":"${QueueUrl}","MessageBody":"${"\\u0009".repeat(1_048_576)}"}`;

    expect((await raw(sqs.endpoint, "AmazonSQS.SendMessage", body)).status).toBe(200);
  });

  test("says when its port is taken", async () => {
    const { sqs } = await setup();
    const port = Number(new URL(sqs.endpoint).port);

    await expect(startEmbeddedSqs({ clock: new ManualClock(), port })).rejects.toThrow(
      "EADDRINUSE",
    );
  });

  test("survives a client that hangs up in the middle of its request", async () => {
    const { sqs, send } = await setup();
    const half = httpRequest(sqs.endpoint, {
      method: "POST",
      headers: { "x-amz-target": "AmazonSQS.ListQueues", "content-length": 100 },
    });
    const gone = new Promise<void>((resolve) => half.once("close", () => resolve()));
    half.once("error", () => {});
    half.write("{");
    half.destroy();
    await gone;

    expect((await send("x")).MessageId).toBeDefined();
    expect(reportOf(sqs.account, "jobs").visible).toBe(1);
  });
});
