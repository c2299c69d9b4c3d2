/** The intake as a process: `node webhook-intake.js`; SIGTERM sends what it has, and ends it. */

import { GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs";
import { systemClock } from "@leasehold/clock";
import { createProducer } from "leasehold";
import { readIntakeConfig } from "./config.ts";
import { BILLING_QUEUE } from "./contract.ts";
import { startIntake } from "./intake/intake.ts";

/** Within the grace of every platform; an answer of SQS takes milliseconds. */
const CLOSE_WITHIN_MS = 10_000;
/** A moment in which the webhooks of a burst share a call. */
const LINGER_MS = 10;
/** Told of jobs that were accepted and are not surely on the queue: none of them had a 202. */
const EXIT_UNSENT = 75;

const { aws, webhookSecret, host, port } = readIntakeConfig();
const client = new SQSClient({
  region: aws.region,
  ...(aws.sqsEndpoint === undefined ? {} : { endpoint: aws.sqsEndpoint }),
  maxAttempts: 1,
});
const { QueueUrl: queueUrl = "" } = await client.send(
  new GetQueueUrlCommand({ QueueName: BILLING_QUEUE }),
);
const producer = createProducer({
  ...{ client, queueUrl, clock: systemClock },
  options: { lingerMs: LINGER_MS, whenFull: "refuse" },
});
const intake = await startIntake({ producer, webhookSecret, clock: systemClock, host, port });
write({ event: "intake.listening", url: intake.url });

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, close);

async function close(): Promise<void> {
  const unsent = await intake.close(CLOSE_WITHIN_MS);
  for (const { jobId } of unsent) write({ event: "intake.unsent", job_id: jobId });
  client.destroy();
  write({ event: "intake.closed", unsent: unsent.length });
  process.exitCode = unsent.length > 0 ? EXIT_UNSENT : 0;
}

function write(line: Readonly<Record<string, string | number>>): void {
  console.log(JSON.stringify({ service: "billing-intake", ...line }));
}
