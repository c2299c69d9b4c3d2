/** A whole production worker on the queue model, watched from the queue's side. */

import { inspect } from "node:util";
import { ManualClock } from "@leasehold/clock/manual";
import { type ActionOutput, type RequestEntry, SqsAccount } from "@leasehold/embedded-sqs";
import { defineJob, type JobContext } from "@leasehold/job";
import { startTelemetry } from "@leasehold/telemetry";
import { z } from "zod";
import { openWorld, type World, type WorldOptions } from "../support/worker-world.ts";
import type { SqsAttributes } from "./envelopes.ts";

/** What a handler of this corpus is given. */
export type Receipt = z.infer<typeof receiptSchema>;

/** Does what a test wants done with a job. */
export type Handler = (receipt: Receipt, context: JobContext) => unknown;

/** A message on its way into the queue. */
export interface Sent {
  readonly body: string;
  readonly attributes?: SqsAttributes;
  readonly groupId?: string;
}

/** A message that lies in the dead-letter queue, in SQS's own words. */
export type DeadLetter = NonNullable<ActionOutput<"ReceiveMessage">["Messages"]>[number];

/** A worker at work, and what the queue knows of it. */
export interface Trial extends World {
  /** Every payload that a handler was given. */
  readonly handled: readonly Receipt[];
  /** @returns the message id @throws SqsError when SQS refuses the message */
  sendRaw(message: Sent): Promise<string>;
  /** When the queue handed the message out, counted from the start of the test. */
  deliveredAtMs(messageId: string): readonly number[];
  /** The visibility timeouts that the queue was told for the message, in order. */
  hiddenForSeconds(messageId: string): readonly number[];
  /** Whether the worker deleted the message. */
  isDeleted(messageId: string): boolean;
  /** Takes all that lies in the dead-letter queue. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /** All that the worker has said so far, in events and in log lines of every level. */
  allSaid(): string;
}

const receiptSchema = z.object({
  invoiceId: z.string().min(1).max(64),
  note: z.string().optional(),
  lines: z.array(z.object({ amount: z.int() })).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  open: z.looseObject({}).optional(),
  x: z.unknown().optional(),
});

/** Opens the queues and starts the worker. */
export async function startTrial(
  handler: Handler = () => undefined,
  options: Omit<WorldOptions, "clock" | "jobs" | "handler"> = {},
): Promise<Trial> {
  const clock = new ManualClock();
  const startedAtMs = clock.wallMs();
  const happened: (RequestEntry & { readonly atMs: number })[] = [];
  const account = new SqsAccount(clock, {
    onRequest: (event) => {
      if (event.kind !== "answered" || event.queueName !== "jobs") return;
      const atMs = event.endedAtMs - startedAtMs;
      happened.push(...event.entries.map((entry) => ({ ...entry, atMs })));
    },
  });
  const handled: Receipt[] = [];
  const job = defineJob({
    type: "receipt.render",
    schema: receiptSchema,
    handler: ({ payload }, context) => {
      handled.push(payload);
      return handler(payload, context);
    },
  });
  const world = await openWorld({
    ...options,
    ...{ clock, jobs: [job] },
    queue: { ...options.queue, account },
  });
  const lines: string[] = [];
  startTelemetry(world.worker, {
    level: "debug",
    destination: { write: (line) => lines.push(line) },
  });
  void world.worker.start();
  const of = (messageId: string, outcome: string) =>
    happened.filter((entry) => entry.messageId === messageId && entry.outcome === outcome);
  return {
    ...world,
    handled,
    sendRaw: (message) => send(account, world.queue.queueUrl, message),
    deliveredAtMs: (messageId) => of(messageId, "received").map(({ atMs }) => atMs),
    hiddenForSeconds: (messageId) =>
      of(messageId, "changed").map((entry) => entry.visibilityTimeoutSeconds ?? Number.NaN),
    isDeleted: (messageId) => of(messageId, "deleted").length > 0,
    deadLetters: () => takeAll(account),
    allSaid: () => `${lines.join("")}\n${inspect(world.events, UNABRIDGED)}`,
  };
}

const UNABRIDGED = { depth: 100, maxArrayLength: null, maxStringLength: null } as const;

async function send(account: SqsAccount, QueueUrl: string, message: Sent): Promise<string> {
  const { MessageId } = await account.perform("SendMessage", {
    QueueUrl,
    MessageBody: message.body,
    MessageAttributes: message.attributes,
    MessageGroupId: message.groupId,
  });
  return MessageId;
}

async function takeAll(account: SqsAccount): Promise<readonly DeadLetter[]> {
  const { QueueUrl } = await account.perform("GetQueueUrl", { QueueName: "jobs-dlq" });
  const taken: DeadLetter[] = [];
  for (;;) {
    const { Messages = [] } = await account.perform("ReceiveMessage", {
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["All"],
    });
    if (Messages.length === 0) return taken;
    taken.push(...Messages);
  }
}
