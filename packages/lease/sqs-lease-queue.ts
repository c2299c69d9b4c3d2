/** The lease queue on SQS; the only file here that speaks seconds. */

import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from "@aws-sdk/client-sqs";
import { type Clock, systemClock } from "@leasehold/clock";
import { CallDeadline } from "./call-deadline.ts";
import { ClaimFailedError } from "./errors.ts";
import type {
  CallAnswer,
  DeadLetterCopy,
  LeaseQueue,
  Receipt,
  ReceiveRequest,
  VisibilityChange,
} from "./lease-queue.ts";
import { SECOND_MS } from "./limits.ts";
import {
  answerOfError,
  answerOfFailedEntry,
  answerOfSendError,
  claimFaultOf,
} from "./sqs-answer.ts";
import type { SqsClients } from "./sqs-clients.ts";
import { receiptOf, SYSTEM_ATTRIBUTES, sqsAttributes } from "./sqs-message.ts";

/** What a lease queue on SQS is built from. */
export interface SqsLeaseQueueParts {
  readonly clients: SqsClients;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl?: string;
  /** @defaultValue the last part of `queueUrl` */
  readonly name?: string;
  /** @defaultValue the time of this machine */
  readonly clock?: Clock;
}

/** Leases on one SQS queue; FIFO when its URL says so. */
export function sqsLeaseQueue(parts: SqsLeaseQueueParts): LeaseQueue {
  return new SqsLeaseQueue(parts);
}

class SqsLeaseQueue implements LeaseQueue {
  readonly name: string;
  readonly url: string;
  readonly fifo: boolean;
  readonly hasDeadLetterQueue: boolean;
  readonly #clients: SqsClients;
  readonly #deadLetterQueueUrl: string | undefined;
  readonly #clock: Clock;

  constructor({ clients, queueUrl, deadLetterQueueUrl, name, clock }: SqsLeaseQueueParts) {
    const nameInUrl = queueUrl.split("/").at(-1) ?? queueUrl;
    this.name = name ?? nameInUrl;
    this.fifo = nameInUrl.endsWith(".fifo");
    this.hasDeadLetterQueue = deadLetterQueueUrl !== undefined;
    this.#clients = clients;
    this.url = queueUrl;
    this.#deadLetterQueueUrl = deadLetterQueueUrl;
    this.#clock = clock ?? systemClock;
  }

  async receive(request: ReceiveRequest): Promise<readonly Receipt[]> {
    const { receive, receiveSlackMs } = this.#clients;
    const command = new ReceiveMessageCommand({
      QueueUrl: this.url,
      MaxNumberOfMessages: request.maxMessages,
      WaitTimeSeconds: toSeconds(request.waitMs),
      VisibilityTimeout: toSeconds(request.visibilityTimeoutMs),
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: [...SYSTEM_ATTRIBUTES],
      ReceiveRequestAttemptId: request.attemptId,
    });
    const timeoutMs = request.waitMs + receiveSlackMs;
    const deadline = new CallDeadline(this.#clock, timeoutMs, request.signal);
    command.middlewareStack.add(deadline.stopLate, CallDeadline.nearTheWire);
    try {
      const sent = receive.send(command, { abortSignal: deadline.signal });
      const { Messages = [] } = await deadline.race(sent);
      return Messages.map(receiptOf).filter((receipt) => receipt !== undefined);
    } catch (error) {
      throw new ClaimFailedError({ queue: this.name, ...claimFaultOf(error), cause: error });
    }
  }

  changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]> {
    const command = new ChangeMessageVisibilityBatchCommand({
      QueueUrl: this.url,
      Entries: entries.map(({ receiptHandle, visibilityTimeoutMs }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: toSeconds(visibilityTimeoutMs),
      })),
    });
    const deadline = new CallDeadline(this.#clock, this.#clients.callTimeoutMs);
    command.middlewareStack.add(deadline.stopLate, CallDeadline.nearTheWire);
    const sent = this.#clients.lease.send(command, { abortSignal: deadline.signal });
    return answersOf(entries.length, deadline.race(sent));
  }

  delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]> {
    const command = new DeleteMessageBatchCommand({
      QueueUrl: this.url,
      Entries: receiptHandles.map((receiptHandle, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
      })),
    });
    const deadline = new CallDeadline(this.#clock, this.#clients.callTimeoutMs);
    command.middlewareStack.add(deadline.stopLate, CallDeadline.nearTheWire);
    const sent = this.#clients.lease.send(command, { abortSignal: deadline.signal });
    return answersOf(receiptHandles.length, deadline.race(sent));
  }

  async deadLetter(copy: DeadLetterCopy): Promise<CallAnswer> {
    if (this.#deadLetterQueueUrl === undefined) {
      return { kind: "refused", code: "NoDeadLetterQueue" };
    }
    const { body, attributes, groupId, deduplicationId, traceHeader } = copy;
    const command = new SendMessageCommand({
      QueueUrl: this.#deadLetterQueueUrl,
      MessageBody: body,
      MessageAttributes: sqsAttributes(attributes),
      MessageGroupId: groupId,
      MessageDeduplicationId: deduplicationId,
      MessageSystemAttributes:
        traceHeader === undefined
          ? undefined
          : { AWSTraceHeader: { DataType: "String", StringValue: traceHeader } },
    });
    const deadline = new CallDeadline(this.#clock, this.#clients.callTimeoutMs);
    command.middlewareStack.add(deadline.stopLate, CallDeadline.nearTheWire);
    const sent = this.#clients.lease.send(command, { abortSignal: deadline.signal });
    try {
      await deadline.race(sent);
      return { kind: "ok" };
    } catch (error) {
      return answerOfSendError(error);
    }
  }
}

/** What a batch answers: partial failure comes with 200, so each entry is looked up by its id. */
interface BatchResult {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

async function answersOf(
  entries: number,
  result: Promise<BatchResult>,
): Promise<readonly CallAnswer[]> {
  const ids = Array.from({ length: entries }, (_, index) => String(index));
  try {
    const { Successful = [], Failed = [] } = await result;
    const succeeded = new Set(Successful.map(({ Id }) => Id));
    const failed = new Map(Failed.map((entry) => [entry.Id, entry]));
    return ids.map((id) => {
      const failure = failed.get(id);
      if (failure !== undefined) return answerOfFailedEntry(failure);
      return succeeded.has(id) ? { kind: "ok" } : { kind: "unknown", code: "EntryNotAnswered" };
    });
  } catch (error) {
    return ids.map(() => answerOfError(error));
  }
}

/** SQS counts in whole seconds; anything else is a fault of ours. */
function toSeconds(durationMs: number): number {
  const seconds = durationMs / SECOND_MS;
  if (!Number.isInteger(seconds) || seconds < 0) {
    throw new RangeError(`SQS takes whole seconds, got ${durationMs} ms`);
  }
  return seconds;
}
