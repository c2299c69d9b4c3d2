/** The lease queue on the pure model of SQS: no HTTP, any clock, and every fault of the network. */

import type { Clock } from "@leasehold/clock";
import { SqsAccount, SqsError } from "@leasehold/embedded-sqs";
import {
  type CallAnswer,
  ClaimFailedError,
  type DeadLetterCopy,
  type LeaseQueue,
  type Receipt,
  type ReceiveRequest,
  type VisibilityChange,
} from "@leasehold/lease";
import { toReceipt, toSqs } from "./model-message.ts";

/** One call as the queue saw it leave. */
export interface ModelCall {
  readonly kind: "receive" | "changeVisibility" | "delete" | "deadLetter";
  /** On the monotonic clock. */
  readonly atMs: number;
  /** Ten at most; for a receive what it asks for. */
  readonly entries: number;
  /** For a change of visibility, entry by entry. */
  readonly visibilityTimeoutsMs: readonly number[];
  readonly receiptHandles: readonly string[];
}

/** What happens to a call on its way. */
export type ModelFault =
  /** Arrives and is done at once; the answer takes this long. */
  | { readonly kind: "slow-answer"; readonly delayMs: number }
  /** Arrives only after this long; the answer follows at once. */
  | { readonly kind: "slow-request"; readonly delayMs: number }
  /** Refused before anything was looked at. */
  | { readonly kind: "throttled" }
  /** Done, but nobody hears of it. */
  | { readonly kind: "lost-reply" }
  /** Never arrives, and nobody hears of that either. */
  | { readonly kind: "lost-request" }
  /** SQS answers that it had an internal error, before it did anything. */
  | { readonly kind: "server-error" }
  /** Every other entry of a batch, from the second, fails for a reason that passes; the rest is done. */
  | { readonly kind: "failed-entries" };

/** What a model queue is built from. */
export interface ModelLeaseQueueParts {
  readonly clock: Clock;
  /** @defaultValue an account of its own */
  readonly account?: SqsAccount;
  /** @defaultValue "jobs" */
  readonly name?: string;
  /** @defaultValue true: `<name>-dlq` */
  readonly hasDeadLetterQueue?: boolean;
  /** @defaultValue 100 */
  readonly maxReceiveCount?: number;
  /** When a call without answer is given up. @defaultValue 2_000 */
  readonly callTimeoutMs?: number;
  /** Asked for each call. */
  readonly fault?: (call: ModelCall) => ModelFault | undefined;
}

/** How one message is sent to the model. */
export interface ModelMessage {
  readonly body?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly delayMs?: number;
}

/** How many messages stand where. */
export interface ModelCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly deadLettered: number;
}

/** A lease queue whose other side a test can look at. */
export interface ModelLeaseQueue extends LeaseQueue {
  readonly account: SqsAccount;
  readonly queueUrl: string;
  /** Every call so far. */
  readonly calls: readonly ModelCall[];
  /** Changes what happens to the calls from now on. */
  fault: (call: ModelCall) => ModelFault | undefined;
  /** @returns the message id */
  send(message?: ModelMessage): Promise<string>;
  counts(): ModelCounts;
  /** Takes what is in the dead-letter queue, ten at most. */
  takeDeadLetters(): Promise<readonly Receipt[]>;
  /** Looks at what is there at this moment, ten at most, and leaves it there. */
  peekDeadLetters(): Promise<readonly Receipt[]>;
}

/** Creates the queues in the model and returns the port on them. */
export async function modelLeaseQueue(parts: ModelLeaseQueueParts): Promise<ModelLeaseQueue> {
  const { clock, name = "jobs", hasDeadLetterQueue = true, maxReceiveCount = 100 } = parts;
  const account = parts.account ?? new SqsAccount(clock);
  const suffix = name.endsWith(".fifo") ? ".fifo" : "";
  const fifo = suffix === "" ? {} : { FifoQueue: "true" };
  const deadLetterName = `${name.slice(0, name.length - suffix.length)}-dlq${suffix}`;
  const attributes: Record<string, string> = { ...fifo };
  let deadLetterQueueUrl: string | undefined;
  if (hasDeadLetterQueue) {
    deadLetterQueueUrl = await createQueue(account, deadLetterName, fifo);
    const deadLetterTargetArn = await queueArn(account, deadLetterQueueUrl);
    attributes["RedrivePolicy"] = JSON.stringify({ deadLetterTargetArn, maxReceiveCount });
  }
  const queueUrl = await createQueue(account, name, attributes);
  return new QueueOnModel({ ...parts, account, name, queueUrl, deadLetterQueueUrl });
}

interface QueueOnModelParts extends ModelLeaseQueueParts {
  readonly account: SqsAccount;
  readonly name: string;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string | undefined;
}

class QueueOnModel implements ModelLeaseQueue {
  readonly name: string;
  readonly fifo: boolean;
  readonly hasDeadLetterQueue: boolean;
  readonly account: SqsAccount;
  readonly queueUrl: string;
  readonly url: string;
  readonly calls: ModelCall[] = [];
  fault: (call: ModelCall) => ModelFault | undefined;
  readonly #deadLetterQueueUrl: string | undefined;
  readonly #clock: Clock;
  readonly #callTimeoutMs: number;

  constructor(parts: QueueOnModelParts) {
    this.name = parts.name;
    this.fifo = parts.name.endsWith(".fifo");
    this.hasDeadLetterQueue = parts.deadLetterQueueUrl !== undefined;
    this.account = parts.account;
    this.queueUrl = parts.queueUrl;
    this.url = parts.queueUrl;
    this.fault = parts.fault ?? (() => undefined);
    this.#deadLetterQueueUrl = parts.deadLetterQueueUrl;
    this.#clock = parts.clock;
    this.#callTimeoutMs = parts.callTimeoutMs ?? 2_000;
  }

  async receive(request: ReceiveRequest): Promise<readonly Receipt[]> {
    const fault = this.fault(this.#note("receive", request.maxMessages));
    const ask = () => this.#receiveFrom(this.queueUrl, request);
    try {
      return await this.#underFault(fault, ask);
    } catch (error) {
      throw claimFailure(this.name, error);
    }
  }

  changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]> {
    const receiptHandles = entries.map(({ receiptHandle }) => receiptHandle);
    const visibilityTimeoutsMs = entries.map((entry) => entry.visibilityTimeoutMs);
    const call = this.#note(
      "changeVisibility",
      entries.length,
      receiptHandles,
      visibilityTimeoutsMs,
    );
    const all = entries.map(({ receiptHandle, visibilityTimeoutMs }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: visibilityTimeoutMs / 1_000,
    }));
    return this.#batch(call, (isDone) =>
      this.account.perform("ChangeMessageVisibilityBatch", {
        QueueUrl: this.queueUrl,
        Entries: all.filter((_, index) => isDone(index)),
      }),
    );
  }

  delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]> {
    const all = receiptHandles.map((ReceiptHandle, index) => ({
      Id: String(index),
      ReceiptHandle,
    }));
    return this.#batch(this.#note("delete", receiptHandles.length, receiptHandles), (isDone) =>
      this.account.perform("DeleteMessageBatch", {
        QueueUrl: this.queueUrl,
        Entries: all.filter((_, index) => isDone(index)),
      }),
    );
  }

  async deadLetter(copy: DeadLetterCopy): Promise<CallAnswer> {
    const fault = this.fault(this.#note("deadLetter", 1));
    try {
      await this.#underFault(fault, () =>
        this.account.perform("SendMessage", {
          QueueUrl: this.#deadLetterQueueUrl,
          MessageBody: copy.body,
          MessageAttributes: toSqs(copy.attributes),
          MessageGroupId: copy.groupId,
          MessageDeduplicationId: copy.deduplicationId,
        }),
      );
      return { kind: "ok" };
    } catch (error) {
      return error instanceof SqsError
        ? { kind: "refused", code: error.errorName }
        : (error as Interrupted).answer;
    }
  }

  async send(message: ModelMessage = {}): Promise<string> {
    const { body = "{}", attributes = {}, groupId, deduplicationId, delayMs } = message;
    const entries = Object.entries(attributes).map(
      ([name, value]) => [name, { DataType: "String", StringValue: value }] as const,
    );
    const sent = await this.account.perform("SendMessage", {
      QueueUrl: this.queueUrl,
      MessageBody: body,
      MessageAttributes: Object.fromEntries(entries),
      MessageGroupId: groupId,
      MessageDeduplicationId: deduplicationId,
      DelaySeconds: delayMs === undefined ? undefined : delayMs / 1_000,
    });
    return sent.MessageId;
  }

  counts(): ModelCounts {
    const { queues } = this.account.report();
    const own = queues[this.name];
    const deadLetters = queues[this.#deadLetterQueueUrl?.split("/").at(-1) ?? ""];
    return {
      visible: own?.visible ?? 0,
      inFlight: own?.inFlight ?? 0,
      delayed: own?.delayed ?? 0,
      deadLettered: deadLetters?.visible ?? 0,
    };
  }

  takeDeadLetters(): Promise<readonly Receipt[]> {
    const all = { maxMessages: 10, waitMs: 0, visibilityTimeoutMs: 30_000 };
    return this.#receiveFrom(this.#deadLetterQueueUrl ?? "", all);
  }

  peekDeadLetters(): Promise<readonly Receipt[]> {
    const all = { maxMessages: 10, waitMs: 0, visibilityTimeoutMs: 0 };
    return this.#receiveFrom(this.#deadLetterQueueUrl ?? "", all);
  }

  async #receiveFrom(
    queueUrl: string,
    { maxMessages, waitMs, visibilityTimeoutMs, signal, attemptId }: ReceiveRequest,
  ): Promise<readonly Receipt[]> {
    const { Messages = [] } = await this.account.perform(
      "ReceiveMessage",
      {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: maxMessages,
        WaitTimeSeconds: waitMs / 1_000,
        VisibilityTimeout: visibilityTimeoutMs / 1_000,
        MessageAttributeNames: ["All"],
        MessageSystemAttributeNames: ["All"],
        ReceiveRequestAttemptId: attemptId,
      },
      signal === undefined ? {} : { signal },
    );
    return Messages.map(toReceipt);
  }

  async #batch(
    call: ModelCall,
    perform: (isDone: (index: number) => boolean) => Promise<{
      readonly Failed: readonly { Id: string; Code: string; SenderFault: boolean }[];
    }>,
  ): Promise<readonly CallAnswer[]> {
    const ids = Array.from({ length: call.entries }, (_, index) => String(index));
    const fault = this.fault(call);
    const isDone = (index: number) => fault?.kind !== "failed-entries" || index % 2 === 0;
    try {
      const { Failed } = await this.#underFault(fault, () => perform(isDone));
      return ids.map((id, index) => {
        if (!isDone(index)) return { kind: "not-applied", code: "InternalError" };
        const failure = Failed.find((entry) => entry.Id === id);
        if (failure === undefined) return { kind: "ok" };
        return { kind: failure.SenderFault ? "refused" : "not-applied", code: failure.Code };
      });
    } catch (error) {
      const answer: CallAnswer =
        error instanceof SqsError
          ? { kind: "refused", code: error.errorName }
          : (error as Interrupted).answer;
      return ids.map(() => answer);
    }
  }

  /** @throws Interrupted when the caller hears nothing, or that nothing was done */
  async #underFault<T>(fault: ModelFault | undefined, perform: () => Promise<T>): Promise<T> {
    switch (fault?.kind) {
      case "throttled":
        throw new Interrupted({ kind: "not-applied", code: "ThrottlingException" });
      case "server-error":
        throw new Interrupted({ kind: "unknown", code: "InternalFailure" });
      case "lost-request":
        await this.#clock.sleep(this.#callTimeoutMs);
        throw new Interrupted({ kind: "unknown", code: "TimeoutError" });
      case "lost-reply":
        await perform();
        await this.#clock.sleep(this.#callTimeoutMs);
        throw new Interrupted({ kind: "unknown", code: "TimeoutError" });
      case "slow-request":
        await this.#clock.sleep(fault.delayMs);
        return perform();
      case "slow-answer": {
        const answer = await perform();
        await this.#clock.sleep(fault.delayMs);
        return answer;
      }
      case "failed-entries":
      case undefined:
        return perform();
    }
  }

  #note(
    kind: ModelCall["kind"],
    entries: number,
    receiptHandles: readonly string[] = [],
    visibilityTimeoutsMs: readonly number[] = [],
  ): ModelCall {
    const atMs = this.#clock.monotonicMs();
    const call = { kind, atMs, entries, receiptHandles, visibilityTimeoutsMs };
    this.calls.push(call);
    return call;
  }
}

/** A call whose answer the network, not SQS, has given. */
class Interrupted extends Error {
  readonly answer: Extract<CallAnswer, { readonly code: string }>;

  constructor(answer: Extract<CallAnswer, { readonly code: string }>) {
    super(answer.code);
    this.answer = answer;
  }
}

async function createQueue(
  account: SqsAccount,
  QueueName: string,
  Attributes: Readonly<Record<string, string>>,
): Promise<string> {
  const { QueueUrl } = await account.perform("CreateQueue", { QueueName, Attributes });
  return QueueUrl;
}

async function queueArn(account: SqsAccount, QueueUrl: string): Promise<string> {
  const AttributeNames = ["QueueArn"];
  const { Attributes } = await account.perform("GetQueueAttributes", { QueueUrl, AttributeNames });
  return Attributes?.["QueueArn"] ?? "";
}

function claimFailure(queue: string, error: unknown): ClaimFailedError {
  if (error instanceof Interrupted) {
    const { code: reason } = error.answer;
    return new ClaimFailedError({ queue, reason, retryable: true, detail: reason, cause: error });
  }
  const reason = error instanceof SqsError ? error.errorName : "AbortError";
  const retryable = reason !== "QueueDoesNotExist";
  return new ClaimFailedError({ queue, reason, retryable, detail: String(error), cause: error });
}
