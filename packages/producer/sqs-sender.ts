/** Sends a batch to SQS and sends alone again what failed. */

import {
  SendMessageBatchCommand,
  type SendMessageBatchCommandOutput,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { Clock } from "@leasehold/clock";
import { SendFailedError } from "./errors.ts";
import type { MessageEntry } from "./message-entry.ts";
import type { ResolvedProducerOptions } from "./options.ts";
import { judgeError, judgeFailedEntry, type SendAnswer, type SendFault } from "./send-answer.ts";

/** The queue to send to, and by what. */
export interface SendTarget {
  /**
   * Its region and credentials decide where; `maxAttempts: 1` suits best, because the producer tries
   * again by itself and an SDK that does so too hides whether the first attempt arrived.
   */
  readonly client: SQSClient;
  readonly queueUrl: string;
}

/** How the sending of one entry ended, all attempts taken together. */
export type SendOutcome =
  | { readonly kind: "sent"; readonly messageId: string }
  /** `refused`: SQS will never take it. `failed`: the attempts are used up, or it is not known. */
  | { readonly kind: "refused"; readonly error: SendFailedError }
  | { readonly kind: "failed"; readonly error: SendFailedError };

/** What sending depends on. */
export interface SenderPorts {
  readonly clock: Clock;
  readonly random: () => number;
}

/** An entry on its way: what has become of it so far. */
interface Sending {
  readonly entry: MessageEntry;
  attempts: number;
  maybeSent: boolean;
  last?: SendAnswer;
}

/** Sends batches to one queue. */
export class SqsSender {
  readonly #target: SendTarget;
  readonly #options: ResolvedProducerOptions;
  readonly #ports: SenderPorts;

  constructor(target: SendTarget, options: ResolvedProducerOptions, ports: SenderPorts) {
    this.#target = target;
    this.#options = options;
    this.#ports = ports;
  }

  /**
   * Sends a batch, then again and again only what of it failed for a passing reason. Never throws.
   *
   * An attempt without an answer is repeated too, so a message may arrive twice; a worker knows both
   * by their job id, and a FIFO queue by their deduplication id.
   *
   * @param batch - one to ten entries, in sum no more than SQS takes
   * @param giveUp - ends it: a call under way is cut off, its outcome unknown, and none follows
   * @returns one outcome for each entry, in their order
   */
  async send(
    batch: readonly MessageEntry[],
    giveUp: AbortSignal = NEVER,
  ): Promise<readonly SendOutcome[]> {
    const sendings = batch.map((entry): Sending => ({ entry, attempts: 0, maybeSent: false }));
    let pending: readonly Sending[] = sendings;
    for (let attempt = 1; attempt <= this.#options.maxAttempts; attempt += 1) {
      if (attempt > 1) await this.#ports.clock.sleep(this.#pauseMs(attempt), giveUp);
      if (giveUp.aborted) break;
      await this.#attempt(pending, giveUp);
      pending = pending.filter(({ last }) => last?.kind === "not-sent" || last?.kind === "unknown");
      if (pending.length === 0) break;
    }
    return sendings.map(outcomeOf);
  }

  /** Full jitter: anything between nothing and the growing limit. */
  #pauseMs(attempt: number): number {
    const { backoffBaseMs, backoffCapMs } = this.#options;
    return this.#ports.random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempt - 2));
  }

  async #attempt(sendings: readonly Sending[], giveUp: AbortSignal): Promise<void> {
    const entries = sendings.map(({ entry }) => entry);
    const answers = await this.#call(entries, giveUp);
    for (const [index, sending] of sendings.entries()) {
      const answer = answers[index] ?? UNANSWERED;
      sending.attempts += 1;
      sending.maybeSent ||= answer.kind === "unknown";
      sending.last = answer;
    }
    // One entry that SQS cannot read may have failed the call of its nine neighbours.
    const isOneForAll = sendings.length > 1 && answers.every((answer) => answer === answers[0]);
    if (!isOneForAll || answers[0]?.kind !== "refused" || isQueueFault(answers[0].code)) return;
    for (const sending of sendings) {
      if (!giveUp.aborted) await this.#attempt([sending], giveUp);
    }
  }

  async #call(
    entries: readonly MessageEntry[],
    giveUp: AbortSignal,
  ): Promise<readonly SendAnswer[]> {
    const end = new AbortController();
    const cutOff = () => end.abort(GIVEN_UP);
    giveUp.addEventListener("abort", cutOff);
    const timeoutMs = this.#options.requestTimeoutMs;
    const disarm = this.#ports.clock.schedule(timeoutMs, () => end.abort(TIMED_OUT));
    const command = new SendMessageBatchCommand({
      QueueUrl: this.#target.queueUrl,
      Entries: entries.map(toRequestEntry),
    });
    try {
      const output = await this.#target.client.send(command, { abortSignal: end.signal });
      return readAnswers(output, entries.length);
    } catch (error) {
      const fault = end.signal.aborted ? (end.signal.reason as SendFault) : judgeError(error);
      return entries.map(() => fault);
    } finally {
      disarm();
      giveUp.removeEventListener("abort", cutOff);
    }
  }
}

const UNANSWERED: SendFault = { kind: "unknown", code: "NoAnswer" };
const TIMED_OUT: SendFault = { kind: "unknown", code: "RequestTimeout" };
const GIVEN_UP: SendFault = { kind: "unknown", code: "ProducerClosed" };
/** Of an entry that was in no request. */
const UNTRIED: SendFault = { kind: "not-sent", code: "ProducerClosed" };
const NEVER = new AbortController().signal;

/** Faults that are the same for every entry, so that asking once more for each tells nothing. */
function isQueueFault(code: string): boolean {
  return /QueueDoesNotExist|NonExistentQueue|AccessDenied|Credential|Token|Signature|Kms/.test(
    code,
  );
}

function toRequestEntry(entry: MessageEntry, index: number): SendMessageBatchRequestEntry {
  const attributes = Object.entries(entry.attributes).map(
    ([name, value]) => [name, { DataType: "String", StringValue: value }] as const,
  );
  return {
    Id: String(index),
    MessageBody: entry.body,
    MessageAttributes: Object.fromEntries(attributes),
    ...(entry.awsTraceHeader === undefined
      ? {}
      : {
          MessageSystemAttributes: {
            AWSTraceHeader: { DataType: "String", StringValue: entry.awsTraceHeader },
          },
        }),
    MessageGroupId: entry.groupId,
    ...(entry.deduplicationId === undefined
      ? {}
      : { MessageDeduplicationId: entry.deduplicationId }),
    ...(entry.delaySeconds === undefined ? {} : { DelaySeconds: entry.delaySeconds }),
  };
}

/** One answer for each entry, in order; an entry that SQS does not mention is unknown. */
function readAnswers(output: SendMessageBatchCommandOutput, entries: number): SendAnswer[] {
  const answers = new Map<string | undefined, SendAnswer>();
  for (const { Id, MessageId } of output.Successful ?? []) {
    answers.set(Id, { kind: "sent", messageId: MessageId ?? "" });
  }
  for (const failed of output.Failed ?? []) answers.set(failed.Id, judgeFailedEntry(failed));
  return Array.from({ length: entries }, (_, index) => answers.get(String(index)) ?? UNANSWERED);
}

function outcomeOf({ attempts, maybeSent, last = UNTRIED }: Sending): SendOutcome {
  if (last.kind === "sent") return last;
  const options = last.cause === undefined ? {} : { cause: last.cause };
  const error = new SendFailedError({ code: last.code, attempts, maybeSent }, options);
  // Refused at last, but an earlier attempt without an answer may have been taken.
  return { kind: last.kind === "refused" && !maybeSent ? "refused" : "failed", error };
}
