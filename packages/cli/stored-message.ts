/** Sends a message that a parked job has kept, to the queue that it came from. */

import {
  GetQueueUrlCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { MessageCopy } from "@leasehold/job";
import { LedgerCommandError } from "./errors.ts";

const NO_SUCH_QUEUE: ReadonlySet<string> = new Set([
  "QueueDoesNotExist",
  "AWS.SimpleQueueService.NonExistentQueue",
]);

/**
 * Sends the message as it came; the queue has it when this returns.
 *
 * @param place - where `sqs` goes to, for the message of an error
 * @throws LedgerCommandError naming the queue and the mend
 */
export async function sendStoredMessage(
  sqs: SQSClient,
  place: string,
  message: MessageCopy,
): Promise<void> {
  const { queue } = message;
  try {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
    await sqs.send(new SendMessageCommand(sendRequest(QueueUrl, message)));
  } catch (cause) {
    const { name, message: text } = cause as Error;
    const why = NO_SUCH_QUEUE.has(name)
      ? `there is no queue ${queue} at ${place}: give the region and the endpoint where it is`
      : `queue ${queue} at ${place} did not take it (${text || name})`;
    throw new LedgerCommandError(
      `the word is kept, but the job's message is not sent yet: ${why}. ` +
        "Then run the same command again: it goes on from here",
      { cause },
    );
  }
}

function sendRequest(url: string | undefined, message: MessageCopy): SendMessageCommandInput {
  const { body, attributes, groupId, deduplicationId, traceHeader } = message;
  const pairs = Object.entries(attributes).map(([name, { dataType, value }]) => {
    const carried = typeof value === "string" ? { StringValue: value } : { BinaryValue: value };
    return [name, { DataType: dataType, ...carried } satisfies MessageAttributeValue] as const;
  });
  return {
    QueueUrl: url,
    MessageBody: body,
    MessageAttributes: Object.fromEntries(pairs),
    ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
    ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
    ...(traceHeader === undefined
      ? {}
      : {
          MessageSystemAttributes: {
            AWSTraceHeader: { DataType: "String", StringValue: traceHeader },
          },
        }),
  };
}
