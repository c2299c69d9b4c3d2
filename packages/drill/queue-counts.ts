/** How much is on a queue, as SQS counts. */

import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";

/** Messages that are visible, held by somebody, or delayed; exact at an emulator, about right at AWS. */
export async function messagesOn(client: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesDelayed",
      ],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
}
