/** A queue of the embedded SQS with a producer before it, and a reader that takes all out of it. */

import {
  CreateQueueCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { ManualClock } from "@leasehold/clock/manual";
import { startEmbeddedSqs } from "@leasehold/embedded-sqs";
import { readEnvelope } from "@leasehold/job";
import { createProducer } from "@leasehold/producer";
import { afterEach } from "vitest";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Opens one; it is closed when the test ends. */
export async function openQueue(name = "jobs", attributes: Record<string, string> = {}) {
  const clock = new ManualClock();
  const sqs = await startEmbeddedSqs({ clock });
  closing.push(sqs.close);
  const client = new SQSClient({
    endpoint: sqs.endpoint,
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  closing.push(() => client.destroy());
  const create = new CreateQueueCommand({ QueueName: name, Attributes: attributes });
  const { QueueUrl: queueUrl = "" } = await client.send(create);
  const producer = createProducer({ client, queueUrl, clock, random: () => 0 });
  const receive = async () => {
    const output = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ["All"],
        MessageSystemAttributeNames: ["All"],
      }),
    );
    return output.Messages ?? [];
  };
  const receiveAll = async () => {
    const all: Message[] = [];
    for (let some = await receive(); some.length > 0; some = await receive()) {
      all.push(...some);
      for (const { ReceiptHandle } of some) {
        await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
      }
    }
    return all;
  };
  return { clock, client, endpoint: sqs.endpoint, queueUrl, producer, receive, receiveAll };
}

/** A received message as a worker reads it. */
export function read({ Body = "", MessageAttributes = {} }: Message) {
  const attributes = Object.entries(MessageAttributes).map(
    ([name, { StringValue = "" }]) => [name, StringValue] as const,
  );
  return readEnvelope(Body, Object.fromEntries(attributes));
}

/** The job id of a received message, or what it is instead of a job. */
export const idOf = (message: Message): string => {
  const reading = read(message);
  return reading.kind === "job" ? reading.job.jobId : reading.kind;
};
