import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { idOf, openQueue } from "./queue-site.ts";

/** A script that has nothing to keep it alive but the job that lingers. */
const program = (endpoint: string, queueUrl: string) => `
  import { SQSClient } from "@aws-sdk/client-sqs";
  import { systemClock } from "@leasehold/clock";
  import { createProducer } from "@leasehold/producer";
  const client = new SQSClient({
    endpoint: ${JSON.stringify(endpoint)},
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const options = { lingerMs: 100 };
  const clock = systemClock;
  const producer = createProducer({ client, queueUrl: ${JSON.stringify(queueUrl)}, clock, options });
  const result = await producer.send("a.b", { tenantId: "t", jobId: "last words", payload: 1 });
  process.stdout.write(result.kind);
`;

test("a process does not end while a job lingers, and ends when it is sent", async () => {
  const { endpoint, queueUrl, receive } = await openQueue();
  const script = program(endpoint, queueUrl);
  const args = ["--conditions=source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname });
  const said = child.stdout.toArray();
  const [code] = await once(child, "close");

  expect([code, Buffer.concat(await said).toString()]).toEqual([0, "sent"]);
  expect((await receive()).map(idOf)).toEqual(["last words"]);
});
