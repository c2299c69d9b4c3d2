/** What Lambda does with a queue: receives, invokes a function, deletes what its answer does not report. */

import type { Clock } from "@leasehold/clock";
import type { SqsAccount } from "@leasehold/embedded-sqs";
import type { BatchResponse, SqsEvent, SqsLambdaHandler, SqsRecord } from "@leasehold/middy";

type Received = NonNullable<Awaited<ReturnType<typeof receiveFrom>>["Messages"]>[number];

/** How an invocation ended. */
export type InvocationEnd =
  | { readonly kind: "answered"; readonly failures: readonly string[]; readonly tookMs: number }
  | { readonly kind: "threw"; readonly error: Error }
  | { readonly kind: "timed-out" };

/** The queue of an event source mapping. */
export interface MappedQueue {
  readonly account: SqsAccount;
  readonly queueUrl: string;
  readonly name: string;
}

/** The numbers of one event source mapping. */
export interface PollerParts {
  readonly clock: Clock;
  readonly queue: MappedQueue;
  /** Of the function. @defaultValue 30_000 */
  readonly timeoutMs?: number;
  /** Of the queue. @defaultValue 180_000 */
  readonly visibilityTimeoutMs?: number;
  /** How long a receive waits for messages. @defaultValue 0 */
  readonly waitMs?: number;
}

/** One event source mapping with ReportBatchItemFailures, without Lambda's own concurrency. */
export class LambdaPoller {
  readonly #parts: Required<PollerParts>;
  #requests = 0;

  constructor(parts: PollerParts) {
    this.#parts = { timeoutMs: 30_000, visibilityTimeoutMs: 180_000, waitMs: 0, ...parts };
  }

  /** Takes up to ten messages and hands them out as Lambda does. */
  async take(most = 10): Promise<SqsEvent> {
    const { queue } = this.#parts;
    const { Messages = [] } = await receiveFrom(queue, most, this.#parts);
    return { Records: Messages.map((message) => recordOf(message, queue.name)) };
  }

  /** Invokes the function, and deletes what it does not report when it has answered in time. */
  async invoke(handler: SqsLambdaHandler, event: SqsEvent): Promise<InvocationEnd> {
    const { clock, timeoutMs } = this.#parts;
    this.#requests += 1;
    const startedAtMs = clock.monotonicMs();
    const context = {
      awsRequestId: `request-${this.#requests}`,
      functionName: "jobs",
      getRemainingTimeInMillis: () => Math.max(0, startedAtMs + timeoutMs - clock.monotonicMs()),
    };
    const over = new AbortController();
    const timedOut = clock.sleep(timeoutMs, over.signal).then(() => "timed-out" as const);
    try {
      const answer = await Promise.race([handler(event, context), timedOut]);
      if (answer === "timed-out") return { kind: "timed-out" };
      const failures = answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
      await this.#delete(event, answer);
      return { kind: "answered", failures, tookMs: clock.monotonicMs() - startedAtMs };
    } catch (error) {
      return { kind: "threw", error: error as Error };
    } finally {
      over.abort();
    }
  }

  async #delete({ Records }: SqsEvent, { batchItemFailures }: BatchResponse): Promise<void> {
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const done = Records.filter(({ messageId }) => !failed.has(messageId));
    const { account, queueUrl } = this.#parts.queue;
    for (let first = 0; first < done.length; first += 10) {
      await account.perform("DeleteMessageBatch", {
        QueueUrl: queueUrl,
        Entries: done.slice(first, first + 10).map(({ receiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle: receiptHandle,
        })),
      });
    }
  }
}

function receiveFrom(
  { account, queueUrl }: MappedQueue,
  most: number,
  { visibilityTimeoutMs, waitMs }: Pick<Required<PollerParts>, "visibilityTimeoutMs" | "waitMs">,
) {
  return account.perform("ReceiveMessage", {
    QueueUrl: queueUrl,
    MaxNumberOfMessages: most,
    WaitTimeSeconds: waitMs / 1_000,
    VisibilityTimeout: visibilityTimeoutMs / 1_000,
    MessageAttributeNames: ["All"],
    MessageSystemAttributeNames: ["All"],
  });
}

/** The fields, and only the fields, that Lambda's documentation shows. */
function recordOf(message: Received, queueName: string): SqsRecord {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, attribute]) => [
        name,
        {
          ...(attribute.StringValue !== undefined && { stringValue: attribute.StringValue }),
          ...(attribute.BinaryValue !== undefined && {
            binaryValue: Buffer.from(attribute.BinaryValue).toString("base64"),
          }),
          stringListValues: [],
          binaryListValues: [],
          dataType: attribute.DataType ?? "String",
        },
      ]),
    ),
    md5OfBody: message.MD5OfBody ?? "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:eu-central-1:000000000000:${queueName}`,
    awsRegion: "eu-central-1",
  };
}
