/** An account under a manual clock, and the few calls that most tests here make. */

import { ManualClock } from "@leasehold/clock/manual";
import {
  type AccountOptions,
  type ActionInput,
  type ActionOutput,
  SqsAccount,
  SqsError,
} from "@leasehold/embedded-sqs";

type Received = NonNullable<ActionOutput<"ReceiveMessage">["Messages"]>[number];

export interface TestQueue {
  readonly QueueUrl: string;
  readonly arn: string;
  send(body: string, more?: Partial<ActionInput<"SendMessage">>): Promise<string>;
  receive(more?: Partial<ActionInput<"ReceiveMessage">>, signal?: AbortSignal): Promise<Received[]>;
  /** The bodies of one receive, in order. */
  bodies(more?: Partial<ActionInput<"ReceiveMessage">>): Promise<string[]>;
  change(handle: string, seconds: number): Promise<object>;
  remove(handle: string): Promise<object>;
  counts(): { visible: number; inFlight: number; delayed: number };
}

/** Ids that count up, so that a failing test can be read. */
export function countingIds(prefix = "id"): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}-${last}`;
  };
}

export function setupAccount(options: AccountOptions = {}, clock: ManualClock = new ManualClock()) {
  const account = new SqsAccount(clock, { newId: countingIds(), ...options });
  const queue = async (
    QueueName: string,
    Attributes: Record<string, string> = {},
  ): Promise<TestQueue> => {
    const { QueueUrl } = await account.perform("CreateQueue", { QueueName, Attributes });
    return testQueue(account, QueueUrl);
  };
  const fifo = (name: string, attributes: Record<string, string> = {}) =>
    queue(`${name}.fifo`, {
      FifoQueue: "true",
      ContentBasedDeduplication: "true",
      ...attributes,
    });
  return { clock, account, queue, fifo };
}

export function testQueue(account: SqsAccount, QueueUrl: string): TestQueue {
  const name = QueueUrl.slice(QueueUrl.lastIndexOf("/") + 1);
  const receive: TestQueue["receive"] = async (more = {}, signal) => {
    const names = { MessageSystemAttributeNames: ["All"], MessageAttributeNames: ["All"] };
    const input = { QueueUrl, MaxNumberOfMessages: 10, ...names, ...more };
    const options = signal === undefined ? {} : { signal };
    return [...((await account.perform("ReceiveMessage", input, options)).Messages ?? [])];
  };
  return {
    QueueUrl,
    arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
    receive,
    send: async (MessageBody, more = {}) =>
      (await account.perform("SendMessage", { QueueUrl, MessageBody, ...more })).MessageId,
    bodies: async (more) => (await receive(more)).map(({ Body }) => Body),
    change: (ReceiptHandle, VisibilityTimeout) =>
      account.perform("ChangeMessageVisibility", { QueueUrl, ReceiptHandle, VisibilityTimeout }),
    remove: (ReceiptHandle) => account.perform("DeleteMessage", { QueueUrl, ReceiptHandle }),
    counts: () => {
      const { visible, inFlight, delayed } = reportOf(account, name);
      return { visible, inFlight, delayed };
    },
  };
}

export function reportOf(account: SqsAccount, queueName: string) {
  const report = account.report().queues[queueName];
  if (report === undefined) throw new Error(`there is no queue ${queueName}`);
  return report;
}

/** `ok`, or the name that the SDK would give the error. */
export async function resultOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return "ok";
  } catch (error) {
    if (error instanceof SqsError) return error.errorName;
    throw error;
  }
}

/** The only message of a list. */
export function only<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined || items.length > 1) throw new Error(`${items.length} items, not one`);
  return item;
}
