import { defineContract, queueSettings, redrivePolicy } from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";

const contract = defineContract({
  preset: "drill",
  service: "billing",
  queues: [
    { name: "jobs", retentionMs: 86_400_000, deadLetter: { name: "dead-jobs" } },
    { name: "orders.fifo" },
  ],
  ledger: { kind: "dynamodb" },
});

describe("queueSettings", () => {
  test("gives a standard queue only the attributes that SQS takes for one", () => {
    expect(queueSettings(contract, "jobs")).toEqual({
      queue: {
        name: "jobs",
        fifo: false,
        attributes: {
          VisibilityTimeout: "10",
          MessageRetentionPeriod: "86400",
          ReceiveMessageWaitTimeSeconds: "2",
          MaximumMessageSize: "1048576",
        },
      },
      deadLetter: {
        name: "dead-jobs",
        fifo: false,
        attributes: {
          VisibilityTimeout: "10",
          MessageRetentionPeriod: "1209600",
          ReceiveMessageWaitTimeSeconds: "2",
          MaximumMessageSize: "1048576",
        },
      },
      maxReceiveCount: 100,
    });
  });

  test("deduplicates a FIFO queue by the producer's id and within each group", () => {
    const { queue, deadLetter } = queueSettings(contract, "orders.fifo");
    expect(queue.attributes).toEqual({
      VisibilityTimeout: "10",
      MessageRetentionPeriod: "345600",
      ReceiveMessageWaitTimeSeconds: "2",
      MaximumMessageSize: "1048576",
      FifoQueue: "true",
      ContentBasedDeduplication: "false",
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
    });
    expect(deadLetter.name).toBe("orders-dlq.fifo");
    expect(deadLetter.attributes["FifoQueue"]).toBe("true");
  });

  test("refuses a queue that the contract does not have", () => {
    expect(() => queueSettings(contract, "job")).toThrow(
      "the contract of billing has no queue job, only jobs, orders.fifo",
    );
  });
});

describe("redrivePolicy", () => {
  test("names the dead-letter queue and the receives that lead to it", () => {
    const arn = "arn:aws:sqs:eu-central-1:000000000000:dead-jobs";
    expect(redrivePolicy(queueSettings(contract, "jobs"), arn)).toBe(
      '{"deadLetterTargetArn":"arn:aws:sqs:eu-central-1:000000000000:dead-jobs","maxReceiveCount":100}',
    );
  });
});
