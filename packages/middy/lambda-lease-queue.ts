/** The lease queue inside one invocation: its batch in, what was done with each message out. */

import type { Clock } from "@leasehold/clock";
import type {
  CallAnswer,
  DeadLetterCopy,
  LeaseQueue,
  Receipt,
  ReceiveRequest,
  VisibilityChange,
} from "@leasehold/lease";
import type { BatchResponse } from "./lambda.ts";
import type { LambdaEvent } from "./lambda-event.ts";
import { partialBatch } from "./partial-batch.ts";
import type { Batch, BatchItem } from "./sqs-event.ts";

/** What it is made of. */
export interface LambdaLeaseQueueParts {
  readonly batch: Batch;
  readonly clock: Clock;
  /** The queue itself. @defaultValue no call is made, and visibility is as Lambda left it */
  readonly queue?: LeaseQueue;
  /** Of the queue; 0 when nobody said. */
  readonly queueVisibilityTimeoutMs: number;
  readonly onEvent: (event: LambdaEvent) => void;
}

const ENTRIES_PER_CALL = 10;
/** How far SQS's clock may be from ours. */
const CLOCK_MARGIN_MS = 1_000;
/** An extension that was not answered is the same when it is sent again. */
const MOST_TRIES = 2;

/**
 * The port of leases, over a batch that Lambda has received.
 *
 * Lambda deletes what the answer does not report, when the function has returned. So a delete is
 * only noted here, and what it was asked for must stay hidden until then: each message is made to be
 * hidden to the end of the invocation before anybody sees it.
 */
export class LambdaLeaseQueue implements LeaseQueue {
  readonly name: string;
  readonly fifo: boolean;
  readonly hasDeadLetterQueue: boolean;
  readonly #parts: LambdaLeaseQueueParts;
  readonly #idOfHandle: ReadonlyMap<string, string>;
  readonly #done = new Set<string>();
  #isReceived = false;

  constructor(parts: LambdaLeaseQueueParts) {
    const { batch, queue } = parts;
    this.name = batch.queueName;
    this.fifo = batch.queueName.endsWith(".fifo");
    this.hasDeadLetterQueue = queue?.hasDeadLetterQueue ?? false;
    this.#parts = parts;
    this.#idOfHandle = new Map(
      batch.items.map(({ receipt }) => [receipt.receiptHandle, receipt.message.messageId]),
    );
  }

  /** The whole batch, once, as far as it is held. */
  async receive({ visibilityTimeoutMs }: ReceiveRequest): Promise<readonly Receipt[]> {
    if (this.#isReceived) return [];
    this.#isReceived = true;
    const { items } = this.#parts.batch;
    const short = items.filter((item) => !this.#lasts(item, visibilityTimeoutMs));
    const lost = await this.#extend(short, visibilityTimeoutMs);
    const held = items.filter((item) => !lost.has(item));
    return (this.fifo ? this.#inOrder(held, lost) : held).map(({ receipt }) => receipt);
  }

  /** FIFO: what stands behind a message that is not held must not run before it. */
  #inOrder(held: readonly BatchItem[], lost: ReadonlySet<BatchItem>): readonly BatchItem[] {
    const { items } = this.#parts.batch;
    const firstLost = new Map<string | undefined, number>();
    for (const [index, item] of items.entries()) {
      const { groupId } = item.receipt.message;
      if (lost.has(item) && !firstLost.has(groupId)) firstLost.set(groupId, index);
    }
    return held.filter((item) => {
      const behind = firstLost.get(item.receipt.message.groupId);
      const mayRun = behind === undefined || items.indexOf(item) < behind;
      if (!mayRun) this.#tellLost(item, "BehindOneNotHeld");
      return mayRun;
    });
  }

  async changeVisibility(entries: readonly VisibilityChange[]): Promise<readonly CallAnswer[]> {
    const { queue } = this.#parts;
    if (queue !== undefined) return await queue.changeVisibility(entries);
    // Nothing was asked of SQS: the message comes back when its visibility timeout is over.
    return entries.map(() => ({ kind: "unknown", code: "NoQueue" }));
  }

  async delete(receiptHandles: readonly string[]): Promise<readonly CallAnswer[]> {
    return receiptHandles.map((handle) => this.#note(handle));
  }

  async deadLetter(copy: DeadLetterCopy): Promise<CallAnswer> {
    const { queue } = this.#parts;
    return (await queue?.deadLetter(copy)) ?? { kind: "refused", code: "NoDeadLetterQueue" };
  }

  /** The answer to Lambda, as of now. */
  answer(): BatchResponse {
    const ids = this.#parts.batch.items.map(({ receipt }) => receipt.message.messageId);
    return partialBatch(ids, this.#done);
  }

  #note(handle: string): CallAnswer {
    const messageId = this.#idOfHandle.get(handle);
    if (messageId === undefined) return { kind: "refused", code: "NotOfThisBatch" };
    this.#done.add(messageId);
    return { kind: "ok" };
  }

  /** Whether what Lambda's own receive promised lasts that long. Nobody knows when it repeated one. */
  #lasts({ receipt, firstReceivedAtMs }: BatchItem, forMs: number): boolean {
    const { queue, queueVisibilityTimeoutMs, clock } = this.#parts;
    if (queue === undefined) return true;
    if (receipt.message.receiveCount !== 1 || firstReceivedAtMs === undefined) return false;
    const untilMs = firstReceivedAtMs + queueVisibilityTimeoutMs - CLOCK_MARGIN_MS;
    return untilMs >= clock.wallMs() + forMs;
  }

  /** @returns the messages whose visibility is not known to last */
  async #extend(items: readonly BatchItem[], forMs: number): Promise<ReadonlySet<BatchItem>> {
    let left = new Map<BatchItem, string>(items.map((item) => [item, ""]));
    const refused = new Map<BatchItem, string>();
    for (let tries = 0; tries < MOST_TRIES && left.size > 0; tries += 1) {
      const answers = await this.#call([...left.keys()], forMs);
      const failed = [...answers].filter(([, answer]) => answer.kind !== "ok");
      left = new Map();
      for (const [item, answer] of failed) {
        const code = answer.kind === "ok" ? "" : answer.code;
        (answer.kind === "refused" ? refused : left).set(item, code);
      }
    }
    for (const [item, code] of [...refused, ...left]) this.#tellLost(item, code);
    return new Set([...refused.keys(), ...left.keys()]);
  }

  async #call(
    items: readonly BatchItem[],
    visibilityTimeoutMs: number,
  ): Promise<ReadonlyMap<BatchItem, CallAnswer>> {
    const groups = Array.from({ length: Math.ceil(items.length / ENTRIES_PER_CALL) }, (_, index) =>
      items.slice(index * ENTRIES_PER_CALL, (index + 1) * ENTRIES_PER_CALL),
    );
    const answers = await Promise.all(
      groups.map((group) =>
        this.changeVisibility(
          group.map(({ receipt: { receiptHandle } }) => ({ receiptHandle, visibilityTimeoutMs })),
        ),
      ),
    );
    const unanswered: CallAnswer = { kind: "unknown", code: "EntryNotAnswered" };
    const flat = answers.flat();
    return new Map(items.map((item, index) => [item, flat[index] ?? unanswered]));
  }

  #tellLost({ receipt }: BatchItem, code: string): void {
    const { messageId, receiveCount } = receipt.message;
    const lease = { queue: this.name, messageId, receiveCount };
    this.#parts.onEvent({ kind: "lambda.not-held", lease, code });
  }
}
