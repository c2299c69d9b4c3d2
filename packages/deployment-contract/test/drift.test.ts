import {
  defineContract,
  queueDrift,
  queueSettings,
  redrivePolicy,
  type TableSettings,
  tableDrift,
  tableSettings,
} from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";

const ARN = "arn:aws:sqs:eu-central-1:000000000000:jobs-dlq";

const contract = defineContract({
  preset: "default-30",
  service: "billing",
  queues: [{ name: "jobs" }, { name: "orders.fifo" }],
  ledger: { kind: "dynamodb" },
});

function setup(queueName = "jobs") {
  const settings = queueSettings(contract, queueName);
  const expected: Record<string, string> = {
    ...settings.queue.attributes,
    RedrivePolicy: redrivePolicy(settings, ARN),
  };
  const live: Record<string, string> = {
    ...expected,
    QueueArn: "arn:aws:sqs:eu-central-1:000000000000:jobs",
  };
  return { expected, live };
}

describe("queueDrift", () => {
  test("finds nothing in a queue that is as the contract says", () => {
    const { expected, live } = setup();
    expect(queueDrift(expected, live)).toEqual([]);
  });

  test("names each attribute that differs or is missing, and how to mend it", () => {
    const { expected, live } = setup();
    const { ["MessageRetentionPeriod"]: _, ...rest } = live;
    expect(queueDrift(expected, { ...rest, VisibilityTimeout: "30" })).toEqual([
      {
        setting: "VisibilityTimeout",
        expected: "60",
        live: "30",
        mend: "set VisibilityTimeout to 60 with SetQueueAttributes, or write the live value into the contract",
      },
      {
        setting: "MessageRetentionPeriod",
        expected: "345600",
        mend: "set MessageRetentionPeriod to 345600 with SetQueueAttributes, or write the live value into the contract",
      },
    ]);
  });

  test("reads a redrive policy by what it says, not by how it is written", () => {
    const { expected, live } = setup();
    const same = `{ "maxReceiveCount": "100", "deadLetterTargetArn": "${ARN}" }`;
    expect(queueDrift(expected, { ...live, RedrivePolicy: same })).toEqual([]);
    const other = `{ "maxReceiveCount": 5, "deadLetterTargetArn": "${ARN}" }`;
    expect(queueDrift(expected, { ...live, RedrivePolicy: other })).toHaveLength(1);
    for (const broken of ["{", "null", "5"]) {
      expect(queueDrift(expected, { ...live, RedrivePolicy: broken })).toHaveLength(1);
    }
  });

  test("says that a queue cannot become FIFO", () => {
    const { expected } = setup("orders.fifo");
    const { live } = setup("jobs");
    const [first] = queueDrift({ FifoQueue: expected["FifoQueue"] ?? "" }, live);
    expect(first?.mend).toBe(
      "it cannot be changed: create a queue of another name, and drain this one",
    );
  });
});

describe("tableDrift", () => {
  const expected = tableSettings(contract) as TableSettings;

  test("finds nothing in a table that is as the contract says", () => {
    const { tableName: _, ...live } = expected;
    expect(tableDrift(expected, live)).toEqual([]);
  });

  test("compares only what the live table tells", () => {
    expect(tableDrift(expected, {})).toEqual([]);
  });

  test("reads keys by their names and types, in whichever order they are written", () => {
    expect(tableDrift(expected, { partitionKey: { type: "S", name: "pk" } })).toEqual([]);
  });

  test("names each setting that differs", () => {
    const found = tableDrift(expected, {
      partitionKey: { name: "id", type: "S" },
      timeToLiveAttribute: "ttl",
      indexes: [],
    });
    expect(found).toEqual([
      {
        setting: "partitionKey",
        expected: "pk (S)",
        live: "id (S)",
        mend: "keys cannot be changed: create a table of another name while no job is open",
      },
      {
        setting: "timeToLiveAttribute",
        expected: "expiresAt",
        live: "ttl",
        mend: "set timeToLiveAttribute to expiresAt on the table",
      },
      {
        setting: "index parked",
        expected: "tenantId (S), parkedAt (N)",
        mend: "create the index with UpdateTable",
      },
    ]);
  });

  test("names an index whose keys differ", () => {
    const parked = { name: "parked", partitionKey: { name: "tenantId", type: "S" as const } };
    const live = { indexes: [{ ...parked, sortKey: { name: "updatedAt", type: "N" as const } }] };
    expect(tableDrift(expected, live)[0]?.mend).toBe(
      "delete the index and create it anew with UpdateTable",
    );
  });
});

describe("tableSettings", () => {
  test("gives the ledger one table, on demand, with parked jobs indexed", () => {
    expect(tableSettings(contract)).toEqual({
      tableName: "billing-ledger",
      partitionKey: { name: "pk", type: "S" },
      sortKey: { name: "sk", type: "S" },
      billingMode: "PAY_PER_REQUEST",
      timeToLiveAttribute: "expiresAt",
      indexes: [
        {
          name: "parked",
          partitionKey: { name: "tenantId", type: "S" },
          sortKey: { name: "parkedAt", type: "N" },
        },
      ],
      pointInTimeRecovery: true,
      deletionProtection: true,
    });
  });

  test("is absent without a ledger", () => {
    const { preset, service, queues } = contract;
    expect(tableSettings(defineContract({ preset, service, queues }))).toBeUndefined();
  });
});
