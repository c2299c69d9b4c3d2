/** Sends jobs, one or many, with a result for each, in order. */

import type { Clock } from "@leasehold/clock";
import {
  checkPayload,
  InvalidIdentityError,
  InvalidPayloadError,
  type JobDefinition,
  type JobIdentity,
  type JobSender,
  parseJobId,
  parseJobType,
  parseTenantId,
  type SentChild,
} from "@leasehold/job";
import { JobTooLargeError, type SendFailedError, UnsendableJobError } from "./errors.ts";
import { type MessageEntry, writeEntry } from "./message-entry.ts";
import {
  type ProducerOptions,
  type ResolvedProducerOptions,
  resolveProducerOptions,
} from "./options.ts";
import { packBatches } from "./send-batch.ts";
import { type SendTarget, SqsSender } from "./sqs-sender.ts";
import { createUuidV7 } from "./uuid-v7.ts";

/** What a producer must know of a type of job: a `JobDefinition`, or as much of it as it shares. */
export type JobKind<Input = unknown> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: what the handler gets does not matter here
  JobDefinition<string, Input, any>,
  "type" | "schema"
>;

/** A job to send. */
export interface JobToSend<Payload = unknown> {
  readonly tenantId: string;
  /**
   * The job's business identity, for example an invoice id and its version: sending the same job
   * again is then the same job.
   * @defaultValue a new UUID of version 7: each call makes another job
   */
  readonly jobId?: string;
  readonly payload: Payload;
  /** Rounded up to whole seconds; 0..900,000, and 0 on FIFO queues. @defaultValue 0 */
  readonly delayMs?: number;
  /** FIFO queues only: jobs of the same key come in order. @defaultValue the tenant */
  readonly orderingKey?: string;
  /** W3C trace context, carried as attributes. */
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** A job to send, and its kind; a bare type sends the payload unchecked. */
export type TypedJobToSend = JobToSend & { readonly type: string | JobKind };

/** Why a job was refused: nothing was sent, and sending it again unchanged is of no use. */
export type RefusalError =
  | InvalidIdentityError
  | InvalidPayloadError
  | UnsendableJobError
  | JobTooLargeError
  | SendFailedError;

/** What became of one job. */
export type SendResult =
  | { readonly kind: "sent"; readonly messageId: string; readonly jobId: string }
  | { readonly kind: "refused"; readonly error: RefusalError }
  /** Send it again with this `jobId`: when `maybeSent`, the queue may have it already. */
  | {
      readonly kind: "failed";
      readonly error: SendFailedError;
      readonly maybeSent: boolean;
      readonly jobId: string;
    };

/** Sends jobs to one queue. Nothing but a bug makes `send` and `sendMany` reject. */
export interface Producer extends JobSender {
  /**
   * Sends one job. Its payload is checked by the schema first and sent as it was given, not as the
   * schema made it: the worker checks it by the same schema.
   */
  send<Input>(kind: string | JobKind<Input>, job: JobToSend<NoInfer<Input>>): Promise<SendResult>;
  /** Sends many, as few calls as SQS allows; one result for each job, in their order. */
  sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]>;
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

/** A job that may go out. */
interface Prepared {
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
    if (result === undefined) throw new Error("no result for the only job");
    return result;
  }

  async sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]> {
    const results = new Array<SendResult>(jobs.length);
    const prepared: Prepared[] = [];
    for (const [index, job] of jobs.entries()) {
      const ready = await this.#prepare(job, index);
      if ("kind" in ready) results[index] = ready;
      else prepared.push(ready);
    }
    const batches = packBatches(prepared, this.#options.fifo).values();
    const sendBatches = async () => {
      for (const batch of batches) await this.#sendBatch(batch, results);
    };
    // The lines share one iterator: each takes the next batch as soon as its last one is answered.
    await Promise.all(Array.from({ length: this.#options.parallelCalls }, sendBatches));
    return results;
  }

  async sendJob({ type, ...job }: Parameters<JobSender["sendJob"]>[0]): Promise<SentChild> {
    const result = await this.send(type, job);
    if (result.kind !== "sent") throw result.error;
    return { jobId: result.jobId, messageId: result.messageId };
  }

  async #prepare(job: TypedJobToSend, index: number): Promise<Prepared | SendResult> {
    try {
      const identity = this.#identify(job);
      if (typeof job.type !== "string") await refuseInvalid(job.type, job.payload);
      const entry = this.#write(job, identity);
      return { index, jobId: identity.jobId, entry, bytes: entry.bytes, groupId: entry.groupId };
    } catch (error) {
      if (isRefusal(error)) return { kind: "refused", error };
      throw error;
    }
  }

  #identify(job: TypedJobToSend): JobIdentity {
    return {
      tenantId: parseTenantId(job.tenantId),
      jobId: parseJobId(job.jobId ?? this.#newJobId()),
      jobType: parseJobType(typeof job.type === "string" ? job.type : job.type.type),
    };
  }

  #write(job: TypedJobToSend, identity: JobIdentity): MessageEntry {
    const { payload, delayMs = 0, orderingKey, traceparent, tracestate } = job;
    return writeEntry(
      {
        ...identity,
        payload,
        createdAtMs: this.#clock.wallMs(),
        ...(traceparent ? { traceparent } : {}),
        ...(tracestate ? { tracestate } : {}),
      },
      { fifo: this.#options.fifo, delayMs, ...(orderingKey === undefined ? {} : { orderingKey }) },
    );
  }

  async #sendBatch(batch: readonly Prepared[], results: SendResult[]): Promise<void> {
    const outcomes = await this.#sender.send(batch.map(({ entry }) => entry));
    for (const [at, { index, jobId }] of batch.entries()) {
      const outcome = outcomes[at];
      if (outcome === undefined) throw new Error("fewer outcomes than entries");
      if (outcome.kind === "sent") results[index] = { ...outcome, jobId };
      else if (outcome.kind === "refused")
        results[index] = { kind: "refused", error: outcome.error };
      else {
        const { error } = outcome;
        results[index] = { kind: "failed", error, maybeSent: error.maybeSent, jobId };
      }
    }
  }
}

async function refuseInvalid(kind: JobKind, payload: unknown): Promise<void> {
  const check = await checkPayload(kind.schema, payload);
  if (check.kind === "invalid") throw new InvalidPayloadError(check.problems);
}

function isRefusal(error: unknown): error is RefusalError {
  return (
    error instanceof InvalidIdentityError ||
    error instanceof InvalidPayloadError ||
    error instanceof UnsendableJobError ||
    error instanceof JobTooLargeError
  );
}
