/** A worker of a few lines: deletes what it receives, and does with signals what a test wants. */

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";

const env = process.env;
const exitCode = Number(env["PARROT_EXIT_CODE"] ?? 0);
const signalsWanted = Number(env["PARROT_SIGNALS"] ?? 1);
const heard: string[] = [];
const ending = new AbortController();
const client = new SQSClient({});

function say(event: string, fields: Readonly<Record<string, unknown>> = {}, level = "info"): void {
  const line = {
    level,
    time: new Date().toISOString(),
    event,
    msg: `about ${event}`,
    pid: process.pid,
    ...fields,
  };
  console.log(JSON.stringify(line));
}

function end(cause: string): void {
  heard.push(cause);
  if (heard.length < signalsWanted) {
    say("parrot.heard", { signal: cause });
    return;
  }
  say("drain.started", { in_flight: 0, drain_by: new Date().toISOString() });
  ending.abort();
}

function report(): void {
  const now = new Date().toISOString();
  const totals = { in_flight_at_start: 0, acked: 0, retried: 0, dead_lettered: 0, released: 0 };
  const phasesMs = { draining: 10, aborting: 0, releasing: 0, flushing: 1 };
  say("drain.finished", {
    report: {
      cause: { kind: "signal", signal: heard.join("+") },
      exit_code: exitCode,
      summary: "said by the parrot",
      started_at: now,
      ended_at: now,
      phases_ms: phasesMs,
      totals: { ...totals, lapsing: 0, lost: 0, polls_left: 0 },
      unfinished: [],
    },
  });
}

/** Gives a poll up when the end comes: a parrot may lose messages, nobody waits for it. */
async function receive(poll: ReceiveMessageCommandInput): Promise<readonly Message[]> {
  try {
    const command = new ReceiveMessageCommand(poll);
    const answer = await client.send(command, { abortSignal: ending.signal });
    return answer.Messages ?? [];
  } catch (error) {
    if (ending.signal.aborted) return [];
    throw error;
  }
}

async function work(client: SQSClient, queueUrl: string | undefined, message: Message) {
  const job = { message_id: message.MessageId };
  say("job.started", job);
  say("lease.extended", job, "debug");
  writeFileSync(join(env["PARROT_FOLDER"] ?? "", `${message.MessageId}.pdf`), "");
  say("job.ended", job);
  const handle = { QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle };
  await client.send(new DeleteMessageCommand(handle));
  say("lease.acked", job, "debug");
}

for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => end(name));
process.on("disconnect", () => end("disconnect"));
if (env["PARROT_DIES"] !== undefined) {
  console.error("the parrot is no more");
  process.exit(exitCode);
}
const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: "parrot-jobs" }));
if (env["PARROT_CAGE"] !== undefined) writeFileSync(join(env["PARROT_CAGE"], "cage-seen"), "");
say("worker.ready");
while (!ending.signal.aborted) {
  const poll = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 };
  if (env["PARROT_DEAF"] !== undefined) {
    // Looks away until it is stopped.
    say("parrot.polled-nothing");
    await once(ending.signal, "abort");
    break;
  }
  for (const message of await receive(poll)) await work(client, QueueUrl, message);
}
report();
process.exit(exitCode);
