import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { QueueDirectory } from "../queue-directory.ts";
import { nowhere, startSqs } from "./fixtures.ts";

describe("QueueDirectory", () => {
  test("finds a queue by its name as soon as it is there", async () => {
    await using sqs = await startSqs();
    const directory = new QueueDirectory(sqs.client);

    await expect(directory.urlOf("mail")).rejects.toMatchObject({
      code: "QUEUE_LOOK_UP",
      queueName: "mail",
      message: expect.stringContaining("queue mail does not exist in this account and region"),
    });
    await sqs.createQueues();

    expect(await directory.urlOf("mail")).toBe(`${sqs.connection.endpoint}/000000000000/mail`);
  });

  test("says what the network said when SQS is out of reach", async () => {
    const client = new SQSClient({ ...nowhere, maxAttempts: 1 });

    await expect(new QueueDirectory(client).urlOf("mail")).rejects.toMatchObject({
      reason: "ECONNREFUSED",
      message: expect.stringContaining("check endpoint, region, credentials"),
    });
    client.destroy();
  });

  test("does not ask for what it was told", async () => {
    const client = new SQSClient({ ...nowhere, maxAttempts: 1 });
    const directory = new QueueDirectory(client, { mail: "https://sqs/mail" });

    expect(await directory.urlOf("mail")).toBe("https://sqs/mail");
    client.destroy();
  });
});
