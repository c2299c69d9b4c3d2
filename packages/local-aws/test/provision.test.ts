import { CreateTableCommand, DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { type DeploymentContract, defineContract } from "@leasehold/deployment-contract";
import { ProvisionConflictError, provision, startLocalAws } from "@leasehold/local-aws";
import { describe, expect, onTestFinished, test } from "vitest";

const invoices = {
  tableName: "invoices",
  partitionKey: { name: "tenant", type: "S" },
  sortKey: { name: "number", type: "N" },
} as const;

function contractOf(preset: "default-30" | "drill" = "default-30"): DeploymentContract {
  return defineContract({
    service: "mailer",
    preset,
    queues: [{ name: "mails" }],
    ledger: { kind: "dynamodb" },
  });
}

async function setup() {
  const aws = await startLocalAws({ mode: "embedded" });
  onTestFinished(() => aws.close());
  const contract = contractOf();
  const attributesOf = async (url: string | undefined) => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] });
    return (await aws.sqs.send(command)).Attributes ?? {};
  };
  const conflictsOf = async (provisioning: Promise<unknown>) => {
    const error = await provisioning.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ProvisionConflictError);
    return error as ProvisionConflictError;
  };
  return { aws, contract, attributesOf, conflictsOf };
}

describe("provision", () => {
  test("creates queue, dead-letter queue, ledger and further tables as the contract says", async () => {
    const { aws, contract, attributesOf } = await setup();

    const done = await provision({ contract, tables: [invoices], clients: aws });

    expect(done.created).toEqual([
      "queue mails-dlq",
      "queue mails",
      "table mailer-ledger",
      "table invoices",
    ]);
    expect(done.found).toEqual([]);
    const queue = await attributesOf(done.queueUrls["mails"]);
    expect(queue).toMatchObject({
      VisibilityTimeout: "60",
      ReceiveMessageWaitTimeSeconds: "10",
      MessageRetentionPeriod: "345600",
      MaximumMessageSize: "1048576",
    });
    expect(JSON.parse(queue["RedrivePolicy"] ?? "")).toEqual({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:mails-dlq",
      maxReceiveCount: 100,
    });
    expect(await attributesOf(done.queueUrls["mails-dlq"])).toMatchObject({
      MessageRetentionPeriod: "1209600",
    });
    const ledger = await aws.dynamodb.send(
      new DescribeTableCommand({ TableName: "mailer-ledger" }),
    );
    expect(ledger.Table).toMatchObject({
      TableStatus: "ACTIVE",
      BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [{ IndexName: "parked" }],
    });
  });

  test("finds everything there when it is called again, and changes nothing", async () => {
    const { aws, contract, attributesOf } = await setup();
    const first = await provision({ contract, tables: [invoices], clients: aws });
    const before = await attributesOf(first.queueUrls["mails"]);

    const again = await provision({ contract, tables: [invoices], clients: aws });

    expect(again.created).toEqual([]);
    expect(again.found).toEqual(first.created);
    expect(again.queueUrls).toEqual(first.queueUrls);
    expect(await attributesOf(first.queueUrls["mails"])).toEqual(before);
  });

  test("refuses a queue that differs, with both values and the way out, and changes nothing", async () => {
    const { aws, contract, attributesOf, conflictsOf } = await setup();
    const { queueUrls } = await provision({ contract, clients: aws });
    const url = queueUrls["mails"];
    const attributes = { VisibilityTimeout: "45" };
    await aws.sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributes }));

    const { conflicts, message } = await conflictsOf(
      provision({ contract, tables: [invoices], clients: aws }),
    );

    expect(conflicts).toEqual([
      {
        resource: "queue mails",
        setting: "VisibilityTimeout",
        contractValue: "60",
        liveValue: "45",
        mend: expect.stringContaining(
          `aws sqs set-queue-attributes --queue-url ${url} --attributes '{"VisibilityTimeout":"60"}'`,
        ),
      },
    ]);
    expect(message).toContain("queue mails: VisibilityTimeout is 45, the contract says 60");
    expect(await attributesOf(url)).toMatchObject({ VisibilityTimeout: "45" });
    const described = aws.dynamodb.send(new DescribeTableCommand({ TableName: "invoices" }));
    await expect(described).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  test("names every difference between two presets at once", async () => {
    const { aws, contract, conflictsOf } = await setup();
    await provision({ contract, clients: aws });

    const { conflicts } = await conflictsOf(
      provision({ contract: contractOf("drill"), clients: aws }),
    );

    expect(
      conflicts.map(({ resource, setting, contractValue, liveValue }) =>
        [resource, setting, contractValue, liveValue].join(" "),
      ),
    ).toEqual([
      "queue mails-dlq VisibilityTimeout 10 60",
      "queue mails-dlq ReceiveMessageWaitTimeSeconds 2 10",
      "queue mails VisibilityTimeout 10 60",
      "queue mails ReceiveMessageWaitTimeSeconds 2 10",
    ]);
  });

  test("refuses a queue without the redrive policy of the contract", async () => {
    const { aws, contract, conflictsOf } = await setup();
    await aws.sqs.send(
      new CreateQueueCommand({
        QueueName: "mails",
        Attributes: {
          VisibilityTimeout: "60",
          ReceiveMessageWaitTimeSeconds: "10",
          MaximumMessageSize: "1048576",
        },
      }),
    );

    const { conflicts } = await conflictsOf(provision({ contract, clients: aws }));

    expect(conflicts).toMatchObject([
      { resource: "queue mails", setting: "RedrivePolicy", liveValue: "not set" },
    ]);
  });

  test("creates a dead-letter queue that is gone, for the queue that still names it", async () => {
    const { aws, contract } = await setup();
    const { queueUrls } = await provision({ contract, clients: aws });
    await aws.sqs.send(new DeleteQueueCommand({ QueueUrl: queueUrls["mails-dlq"] }));

    const { created, found } = await provision({ contract, clients: aws });

    expect(created).toEqual(["queue mails-dlq"]);
    expect(found).toEqual(["queue mails", "table mailer-ledger"]);
  });

  test("refuses a table with other keys, and says that keys cannot be changed in place", async () => {
    const { aws, contract, conflictsOf } = await setup();
    await aws.dynamodb.send(
      new CreateTableCommand({
        TableName: "invoices",
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [{ AttributeName: "tenant", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "tenant", AttributeType: "S" }],
      }),
    );

    const { conflicts } = await conflictsOf(
      provision({ contract, tables: [invoices], clients: aws }),
    );

    expect(conflicts).toEqual([
      {
        resource: "table invoices",
        setting: "keys",
        contractValue: "tenant (S), number (N)",
        liveValue: "tenant (S)",
        mend: expect.stringContaining("aws dynamodb delete-table --table-name invoices"),
      },
    ]);
  });

  test("lets several provision the same at the same time", async () => {
    const { aws, contract } = await setup();

    const all = await Promise.all(
      [1, 2, 3].map(() => provision({ contract, tables: [invoices], clients: aws })),
    );

    const [first] = all;
    for (const { queueUrls } of all) expect(queueUrls).toEqual(first?.queueUrls);
  });

  test("leaves DynamoDB alone when the contract has no ledger and there are no tables", async () => {
    const { aws } = await setup();
    const contract = defineContract({
      service: "mailer",
      preset: "default-30",
      queues: [{ name: "mails" }],
      ledger: { kind: "none" },
    });
    aws.dynamodb.destroy();

    const { created } = await provision({ contract, clients: aws });

    expect(created).toEqual(["queue mails-dlq", "queue mails"]);
  });
});
