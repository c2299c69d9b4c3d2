/** What the tests of the facade share: a contract, a schema, and SQS with its queues. */

import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { systemClock } from "@leasehold/clock";
import { type DeploymentContract, defineContract } from "@leasehold/deployment-contract";
import type { JobDefinition } from "@leasehold/job";
import type { SqsConnection } from "@leasehold/lease";
import { provision, startLocalAws } from "@leasehold/local-aws";

export const mail: DeploymentContract = defineContract({
  preset: "drill",
  service: "mail",
  queues: [{ name: "mail" }],
});

/** Takes every payload. */
export const anything: JobDefinition["schema"] = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

const ACCOUNT = {
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const;

/** An address at which nothing listens. */
export const nowhere: SqsConnection = { ...ACCOUNT, endpoint: "http://127.0.0.1:9" };

export interface SqsHere extends AsyncDisposable {
  readonly connection: SqsConnection;
  readonly client: SQSClient;
  createQueues(): Promise<void>;
  /** A message as it is, to the first queue. */
  send(body: string): Promise<void>;
}

export async function startSqs(): Promise<SqsHere> {
  const aws = await startLocalAws({ mode: "embedded", clock: systemClock });
  const connection = { ...ACCOUNT, endpoint: aws.sqsEndpoint };
  const client = new SQSClient(connection);
  return {
    connection,
    client,
    createQueues: async () => {
      await provision({ contract: mail, clients: aws });
    },
    send: async (body) => {
      const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: "mail" }));
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    },
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await aws.close();
    },
  };
}
