import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { defineContract } from "@leasehold/deployment-contract";
import {
  EndpointUnknownError,
  FolderBusyError,
  provision,
  startLocalAws,
} from "@leasehold/local-aws";
import { describe, expect, onTestFinished, test } from "vitest";

const contract = defineContract({
  service: "mailer",
  preset: "default-30",
  queues: [{ name: "mails" }],
  ledger: { kind: "dynamodb" },
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("AWS in this process", () => {
  test("tells a child process where it is, and takes away what would lead it elsewhere", async () => {
    const aws = await startLocalAws({ mode: "embedded" });
    onTestFinished(() => aws.close());

    expect(aws.sqsEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(aws.environment).toEqual({
      AWS_ENDPOINT_URL_SQS: aws.sqsEndpoint,
      AWS_ENDPOINT_URL_DYNAMODB: aws.dynamodbEndpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_PROFILE: undefined,
      AWS_SESSION_TOKEN: undefined,
    });
  });

  test("lets faults meet whoever takes its endpoints, and not its own clients", async () => {
    const rules = [{ fault: { kind: "throttle" }, actions: ["ListTables", "ListQueues"] }] as const;
    const aws = await startLocalAws({ mode: "embedded", faults: { rules } });
    onTestFinished(() => aws.close());
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    const common = { region: "us-east-1", credentials, maxAttempts: 1 };
    const sqs = new SQSClient({ ...common, endpoint: aws.sqsEndpoint });
    onTestFinished(() => sqs.destroy());
    const dynamodb = new DynamoDBClient({ ...common, endpoint: aws.dynamodbEndpoint });
    onTestFinished(() => dynamodb.destroy());

    await expect(sqs.send(new ListQueuesCommand({}))).rejects.toThrow(/throttling/);
    await expect(dynamodb.send(new ListTablesCommand({}))).rejects.toThrow(/Rate exceeded/);
    expect(await aws.sqs.send(new ListQueuesCommand({}))).toMatchObject({ $metadata: {} });
    expect((await aws.dynamodb.send(new ListTablesCommand({}))).TableNames).toEqual([]);
    expect(aws.environment).toMatchObject({
      AWS_ENDPOINT_URL_SQS: aws.sqsEndpoint,
      AWS_ENDPOINT_URL_DYNAMODB: aws.dynamodbEndpoint,
    });
  });

  test("ends what it has started when a fault makes no sense", async () => {
    const folder = await newFolder();
    const rules = [{ fault: { kind: "hung" }, chance: 2 }] as const;
    const start = () => startLocalAws({ mode: "embedded", folder, faults: { rules } });

    await expect(start()).rejects.toThrow("rule 1: chance must be between 0 and 1, got 2");
    await expect(start()).rejects.toThrow("rule 1: chance must be between 0 and 1, got 2");
  });

  test("goes on after a restart with what its folder keeps", async () => {
    const folder = await newFolder();
    const before = await startLocalAws({ mode: "embedded", folder });
    const first = await provision({ contract, clients: before });
    const message = { QueueUrl: first.queueUrls["mails"], MessageBody: "kept" };
    await before.sqs.send(new SendMessageCommand(message));
    const key = { pk: { S: "a" }, sk: { S: "b" } };
    await before.dynamodb.send(new PutItemCommand({ TableName: "mailer-ledger", Item: key }));
    await before.close();

    const after = await startLocalAws({ mode: "embedded", folder });
    onTestFinished(() => after.close());

    const { created, queueUrls } = await provision({ contract, clients: after });
    expect(created).toEqual([]);
    const received = await after.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrls["mails"], WaitTimeSeconds: 0 }),
    );
    expect(received.Messages?.map(({ Body }) => Body)).toEqual(["kept"]);
    const found = await after.dynamodb.send(
      new GetItemCommand({ TableName: "mailer-ledger", Key: key }),
    );
    expect(found.Item).toEqual(key);
  });

  test("keeps nothing on the disk without a folder, and starts empty", async () => {
    const before = await startLocalAws({ mode: "embedded" });
    await provision({ contract, clients: before });
    await before.close();

    const after = await startLocalAws({ mode: "embedded" });
    onTestFinished(() => after.close());

    expect((await provision({ contract, clients: after })).found).toEqual([]);
  });

  test("stops the queues again when the store's port is taken", async () => {
    const first = await startLocalAws({ mode: "embedded" });
    onTestFinished(() => first.close());
    const folder = await newFolder();
    const dynamodbPort = Number(new URL(first.dynamodbEndpoint).port);

    const second = startLocalAws({ mode: "embedded", folder, dynamodbPort });

    await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
    const third = await startLocalAws({ mode: "embedded", folder });
    onTestFinished(() => third.close());
    expect((await readdir(folder)).sort()).toEqual(["dynamodb", "in-use.lock", "sqs"]);
    expect((await third.dynamodb.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });

  test("refuses a folder that another one has, and names its owner", async () => {
    const folder = await newFolder();
    const first = await startLocalAws({ mode: "embedded", folder });

    const second = startLocalAws({ mode: "embedded", folder });

    await expect(second).rejects.toBeInstanceOf(FolderBusyError);
    await expect(second).rejects.toThrow(`${folder} is in use (process ${process.pid})`);
    await first.close();
    await (await startLocalAws({ mode: "embedded", folder })).close();
  });

  test("takes over a folder whose owner was killed, for one successor only", async () => {
    const folder = await newFolder();
    const gone = spawnSync(process.execPath, ["-e", ""]);
    await writeFile(join(folder, "in-use.lock"), `${gone.pid}\n`);

    const starts = await Promise.allSettled(
      [1, 2, 3].map(() => startLocalAws({ mode: "embedded", folder })),
    );

    const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    for (const aws of started) await aws.close();
    expect(started.length).toBe(1);
  });
});

describe("AWS at an endpoint", () => {
  const environment = { AWS_ENDPOINT_URL: "http://127.0.0.1:4566", AWS_REGION: "eu-central-1" };

  test("is where the environment says, with one address for both services or one for each", async () => {
    const both = await startLocalAws({ mode: "endpoint", environment });
    const apart = await startLocalAws({
      mode: "endpoint",
      environment: { ...environment, AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:8000" },
    });

    expect(both.environment).toEqual({
      AWS_ENDPOINT_URL_SQS: "http://127.0.0.1:4566",
      AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:4566",
      AWS_REGION: "eu-central-1",
    });
    expect(apart.dynamodbEndpoint).toBe("http://127.0.0.1:8000");
    expect(await apart.sqs.config.region()).toBe("eu-central-1");
    expect(both.embedded).toBeUndefined();
  });

  test.each([
    [
      {},
      "AWS_ENDPOINT_URL is not set, for example to http://127.0.0.1:4566; AWS_REGION is not set",
    ],
    [{ ...environment, AWS_ENDPOINT_URL: "localhost:4566" }, "must be an http or https URL"],
    [{ ...environment, AWS_ENDPOINT_URL_SQS: "nowhere" }, "AWS_ENDPOINT_URL_SQS must be"],
    [{ ...environment, AWS_REGION: "" }, "AWS_REGION is not set, for example to us-east-1"],
  ])("is refused for %j", async (given, problem) => {
    const error = await startLocalAws({ mode: "endpoint", environment: given }).catch(
      (reason: unknown) => reason,
    );

    expect(error).toBeInstanceOf(EndpointUnknownError);
    expect((error as Error).message).toContain(problem);
  });
});
