/** Sends jobs, one or many, with a result for each, in order. */

import type { Clock } from "@leasehold/clock";
import type { ChildJob, JobSender, SentChild } from "@leasehold/job";
import type { SendFailedError } from "./errors.ts";
import type { MessageEntry } from "./message-entry.ts";
import {
  type ProducerOptions,
  type ResolvedProducerOptions,
  resolveProducerOptions,
} from "./options.ts";
import {
  type JobKind,
  type JobToSend,
  prepareJob,
  type TypedJobToSend,
  type UnpreparedError,
} from "./prepared-job.ts";
import { packBatches } from "./send-batch.ts";
import { type SendOutcome, type SendTarget, SqsSender } from "./sqs-sender.ts";
import { createUuidV7 } from "./uuid-v7.ts";

/** What became of one job. */
export type SendResult =
  | { readonly kind: "sent"; readonly messageId: string; readonly jobId: string }
  /** Nothing was sent, and sending it again unchanged is of no use. */
  | { readonly kind: "refused"; readonly error: UnpreparedError | SendFailedError }
  /** Send it again with this `jobId`: when `maybeSent`, the queue may have it already. */
  | {
      readonly kind: "failed";
      readonly error: SendFailedError;
      readonly maybeSent: boolean;
      readonly jobId: string;
    };

/** Sends jobs to one queue. Nothing but a bug makes `send` and `sendMany` reject. */
export interface Producer extends JobSender {
  /** Sends one job. Its payload is checked by the schema first, and sent as it was given. */
  send<Input>(kind: string | JobKind<Input>, job: JobToSend<NoInfer<Input>>): Promise<SendResult>;
  /** Sends many in as few calls as SQS allows; one result for each job, in their order. */
  sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]>;
  /**
   * Sends the child of a running job.
   * @throws the error of its result when it was not, or not surely, sent
   */
  sendJob(job: Required<ChildJob>): Promise<SentChild>;
}

/** What a producer works with. */
export interface ProducerArguments extends SendTarget {
  readonly clock: Clock;
  readonly options?: ProducerOptions;
  /** 0 up to 1, for the pauses. @defaultValue Math.random */
  readonly random?: () => number;
}

/**
 * A producer for one queue.
 *
 * @throws InvalidOptionsError
 * @example
 * const producer = createProducer({ client: new SQSClient({ maxAttempts: 1 }), queueUrl, clock });
 * const result = await producer.send(greet, { tenantId: "acme", jobId: "mail-7", payload });
 */
export function createProducer(args: ProducerArguments): Producer {
  const options = resolveProducerOptions(args.options, args.queueUrl);
  const ports = { clock: args.clock, random: args.random ?? Math.random };
  return new SqsProducer(new SqsSender(args, options, ports), options, args.clock);
}

/** An entry that waits for its batch, and where its result belongs. */
interface Waiting {
  readonly index: number;
  readonly jobId: string;
  readonly entry: MessageEntry;
  readonly bytes: number;
  readonly groupId: string;
}

class SqsProducer implements Producer {
  readonly #sender: SqsSender;
  readonly #options: ResolvedProducerOptions;
  readonly #clock: Clock;
  readonly #newJobId: () => string;

  constructor(sender: SqsSender, options: ResolvedProducerOptions, clock: Clock) {
    this.#sender = sender;
    this.#options = options;
    this.#clock = clock;
    this.#newJobId = createUuidV7(clock);
  }

  async send<Input>(
    kind: string | JobKind<Input>,
    job: JobToSend<NoInfer<Input>>,
  ): Promise<SendResult> {
    const [result] = await this.sendMany([{ ...job, type: kind as string | JobKind }]);
    return result as SendResult;
  }

  async sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]> {
    const results = new Array<SendResult>(jobs.length);
    const waiting = await this.#prepare(jobs, results);
    const batches = packBatches(waiting, this.#options.fifo).values();
    const sendBatches = async () => {
      for (const batch of batches) await this.#sendBatch(batch, results);
    };
    // The lines share one iterator: each takes the next batch as soon as its last one is answered.
    await Promise.all(Array.from({ length: this.#options.parallelCalls }, sendBatches));
    return results;
  }

  async sendJob({ type, ...job }: Required<ChildJob>): Promise<SentChild> {
    const result = await this.send(type, job);
    if (result.kind !== "sent") throw result.error;
    return { jobId: result.jobId, messageId: result.messageId };
  }

  /** Puts down the refusals and returns the rest. */
  async #prepare(jobs: readonly TypedJobToSend[], results: SendResult[]): Promise<Waiting[]> {
    const facts = {
      fifo: this.#options.fifo,
      createdAtMs: this.#clock.wallMs(),
      newJobId: this.#newJobId,
    };
    const waiting: Waiting[] = [];
    for (const [index, job] of jobs.entries()) {
      const prepared = await prepareJob(job, facts);
      if (prepared.kind === "refused") {
        results[index] = prepared;
      } else {
        const { jobId, entry } = prepared;
        waiting.push({ index, jobId, entry, bytes: entry.bytes, groupId: entry.groupId });
      }
    }
    return waiting;
  }

  async #sendBatch(batch: readonly Waiting[], results: SendResult[]): Promise<void> {
    const outcomes = await this.#sender.send(batch.map(({ entry }) => entry));
    for (const [at, { index, jobId }] of batch.entries()) {
      results[index] = resultOf(outcomes[at] as SendOutcome, jobId);
    }
  }
}

function resultOf(outcome: SendOutcome, jobId: string): SendResult {
  switch (outcome.kind) {
    case "sent":
      return { ...outcome, jobId };
    case "refused":
      return { kind: "refused", error: outcome.error };
    case "failed":
      return { ...outcome, kind: "failed", maybeSent: outcome.error.maybeSent, jobId };
  }
}
