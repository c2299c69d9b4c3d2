import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { describe, expect, expectTypeOf, test } from "vitest";
import { InvalidSqsEventError, lambdaHandler } from "../index.ts";
import { readBatch } from "../sqs-event.ts";
import { workJob } from "./lambda-site.ts";

/** As the Lambda Developer Guide shows one, "Amazon SQS event message". */
const record: SQSRecord = {
  messageId: "059f36b4-87a3-44ab-83d2-661975830a7d",
  receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
  body: "Test message.",
  attributes: {
    ApproximateReceiveCount: "2",
    SentTimestamp: "1545082649183",
    SenderId: "AIDAIENQZJOLO23YVJ4VO",
    ApproximateFirstReceiveTimestamp: "1545082649185",
    MessageGroupId: "group-1",
    SequenceNumber: "18849496460467696128",
    MessageDeduplicationId: "dedup-1",
    AWSTraceHeader: "Root=1-5759e988-bd862e3fe1be46a994272793",
  },
  messageAttributes: {
    tenant_id: { stringValue: "acme", dataType: "String", stringListValues: [] },
    digest: { binaryValue: "AP8=", dataType: "Binary.sha", binaryListValues: [] },
  },
  md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
  eventSource: "aws:sqs",
  eventSourceARN: "arn:aws:sqs:us-east-2:123456789012:my-queue",
  awsRegion: "us-east-2",
};

describe("readBatch", () => {
  test("reads a message with all that Lambda says of it", () => {
    expect(readBatch({ Records: [record] })).toEqual({
      queueName: "my-queue",
      items: [
        {
          firstReceivedAtMs: 1_545_082_649_185,
          receipt: {
            receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
            message: {
              messageId: "059f36b4-87a3-44ab-83d2-661975830a7d",
              body: "Test message.",
              attributes: {
                tenant_id: { dataType: "String", value: "acme" },
                digest: { dataType: "Binary.sha", value: new Uint8Array([0, 255]) },
              },
              receiveCount: 2,
              sentAtMs: 1_545_082_649_183,
              groupId: "group-1",
              deduplicationId: "dedup-1",
              sequenceNumber: "18849496460467696128",
              traceHeader: "Root=1-5759e988-bd862e3fe1be46a994272793",
            },
          },
        },
      ],
    });
  });

  test("writes a body as JSON again that a middleware has parsed", () => {
    const { items } = readBatch({ Records: [{ ...record, body: { v: 1 } }] });
    expect(items[0]?.receipt.message.body).toBe('{"v":1}');
  });

  test("keeps the newest handle of a message that came twice", () => {
    const { items } = readBatch({ Records: [record, { ...record, receiptHandle: "newest" }] });
    expect(items.map(({ receipt }) => receipt.receiptHandle)).toEqual(["newest"]);
  });

  test.each([
    ["nothing", undefined, "the event must have a list of Records, got undefined"],
    ["no list", { Records: {} }, "the event must have a list of Records, got an object"],
    [
      "records of another service",
      { Records: [{ eventSource: "aws:s3" }] },
      "every record must have the eventSource aws:sqs, got aws:s3",
    ],
    [
      "a record that is none",
      { Records: [null] },
      "must have the eventSource aws:sqs, got undefined",
    ],
    [
      "a message without id",
      { Records: [record, { ...record, messageId: undefined }] },
      "Records[1].messageId must be a text, got undefined",
    ],
    [
      "a message without handle",
      { Records: [{ ...record, receiptHandle: "" }] },
      "Records[0].receiptHandle must be a text, got string",
    ],
    [
      "two queues",
      { Records: [record, { ...record, eventSourceARN: "arn:aws:sqs:us-east-2:1:other" }] },
      "a batch must be of one queue, got 2",
    ],
  ])("refuses %s", (_, event, problem) => {
    expect(() => readBatch(event)).toThrow(InvalidSqsEventError);
    expect(() => readBatch(event)).toThrow(problem);
  });
});

describe("lambdaHandler, as AWS's own types see it", () => {
  test("takes their event and context, and answers with their response", () => {
    const handler = lambdaHandler([workJob(() => undefined)]);
    expectTypeOf(handler).toExtend<
      (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>
    >();
  });
});
