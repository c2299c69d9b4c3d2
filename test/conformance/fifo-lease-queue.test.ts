/** The FIFO lease queue on the pure model and, by the real SDK, on the embedded SQS. */

import { systemClock } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { type SqsAccount, startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { sqsClients, sqsLeaseQueue } from "@leasehold/lease";
import { modelLeaseQueue } from "../support/model-lease-queue.ts";
import { describeFifoLeaseQueue } from "./fifo-lease-queue.ts";

function sender(account: SqsAccount, QueueUrl: string): (body: string) => Promise<string> {
  return async (body) => {
    const MessageGroupId = body.slice(0, 1);
    const input = { QueueUrl, MessageBody: body, MessageGroupId, MessageDeduplicationId: body };
    return (await account.perform("SendMessage", input)).MessageId;
  };
}

describeFifoLeaseQueue("the pure model", async () => {
  const queue = await modelLeaseQueue({ clock: new ManualClock(), name: "jobs.fifo" });
  return {
    queue,
    send: sender(queue.account, queue.queueUrl),
    deadLetters: () => queue.takeDeadLetters(),
    close: async () => queue.account.close(),
  };
});

describeFifoLeaseQueue("SQS, by the SDK", async () => {
  const { account, endpoint, close } = await startEmbeddedSqs({ clock: systemClock });
  const create = async (QueueName: string) => {
    const input = { QueueName, Attributes: { FifoQueue: "true" } };
    return (await account.perform("CreateQueue", input, { endpoint })).QueueUrl;
  };
  const deadLetterQueueUrl = await create("jobs-dlq.fifo");
  const queueUrl = await create("jobs.fifo");
  const clients = sqsClients({
    region: "us-east-1",
    endpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const deadLetterQueue = sqsLeaseQueue({ clients, queueUrl: deadLetterQueueUrl });
  return {
    queue: sqsLeaseQueue({ clients, queueUrl, deadLetterQueueUrl }),
    send: sender(account, queueUrl),
    deadLetters: () =>
      deadLetterQueue.receive({ maxMessages: 10, waitMs: 0, visibilityTimeoutMs: 30_000 }),
    close: async () => {
      clients.destroy();
      await close();
    },
  };
});
