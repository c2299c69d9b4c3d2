/** The lease queue on the pure model and, by the real SDK, on the embedded SQS. */

import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { type SqsAccount, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { sqsClients, sqsLeaseQueue } from "@leasehold/lease";
import { modelLeaseQueue } from "../support/model-lease-queue.ts";
import { describeLeaseQueue, type LeaseQueueUnderTest } from "./lease-queue.ts";

type OtherSide = Pick<LeaseQueueUnderTest, "send" | "remove">;

function otherSide(account: SqsAccount, QueueUrl: string): OtherSide {
  return {
    send: async (MessageBody, MessageAttributes = {}) => {
      const input = { QueueUrl, MessageBody, MessageAttributes };
      return (await account.perform("SendMessage", input)).MessageId;
    },
    remove: async () => void (await account.perform("DeleteQueue", { QueueUrl })),
  };
}

describeLeaseQueue("the pure model", async () => {
  const queue = await modelLeaseQueue({ clock: new ManualClock() });
  return {
    ...otherSide(queue.account, queue.queueUrl),
    queue,
    deadLetters: () => queue.takeDeadLetters(),
    close: async () => queue.account.close(),
  };
});

describeLeaseQueue("SQS, by the SDK", async () => {
  const sqs = await startEmbeddedSqs({ clock: systemClock });
  const create = async (QueueName: string) =>
    (await sqs.account.perform("CreateQueue", { QueueName }, { endpoint: sqs.endpoint })).QueueUrl;
  const deadLetterQueueUrl = await create("jobs-dlq");
  const queueUrl = await create("jobs");
  const clients = sqsClients({
    region: "us-east-1",
    endpoint: sqs.endpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const deadLetterQueue = sqsLeaseQueue({ clients, queueUrl: deadLetterQueueUrl });
  return {
    ...otherSide(sqs.account, queueUrl),
    queue: sqsLeaseQueue({ clients, queueUrl, deadLetterQueueUrl }),
    deadLetters: () =>
      deadLetterQueue.receive({ maxMessages: 10, waitMs: 0, visibilityTimeoutMs: 30_000 }),
    close: async () => {
      clients.destroy();
      await sqs.close();
    },
  };
});
