/** Sends jobs, one or many, with a result for each, in order. */

import type { Clock } from "@leasehold/clock";
import type { ChildJob, JobSender, PayloadStore, SentChild } from "@leasehold/job";
import { UnsendableJobError } from "./errors.ts";
import type { AnyJobKind, JobKind, KnownJob, KnownType, PayloadOf } from "./job-kind.ts";
import { JobKinds } from "./job-kind.ts";
import { JobLine } from "./job-line.ts";
import type { JobToSend } from "./job-to-send.ts";
import { type ProducerOptions, resolveCloseOptions, resolveProducerOptions } from "./options.ts";
import type { TypedJobToSend } from "./prepared-job.ts";
import { MadeUpIds, type ProducerEvent } from "./producer-event.ts";
import type { CloseReport, SendResult } from "./send-result.ts";
import { type SendTarget, SqsSender } from "./sqs-sender.ts";

/** What every producer can do beside sending. */
interface ProducerLife extends JobSender {
  /**
   * Sends the child of a running job.
   * @throws the error of its result when it was not, or not surely, sent
   */
  sendJob(job: Required<ChildJob>): Promise<SentChild>;
  /** Resolves when one more job may come without waiting; for callers who send ahead of results. */
  ready(): Promise<void>;
  /** Sends at once what lingers; resolves when every job that has come so far has its result. */
  flush(): Promise<void>;
  /**
   * For the shutdown of the service: takes no more jobs (`JobNotAcceptedError`), sends what it has,
   * and gives up at the deadline. Every caller of `send` has its result then, too. The client stays
   * open. Calling it twice is the same as once.
   *
   * @param options - `withinMs`: 0..900,000, 10,000 unless told otherwise
   * @throws InvalidOptionsError
   */
  close(options?: { readonly withinMs?: number }): Promise<CloseReport>;
}

/**
 * Sends jobs to one queue. Nothing but a bug makes `send` and `sendMany` reject, and every job has a
 * result: none is dropped without a word.
 */
export interface Producer extends ProducerLife {
  /**
   * Sends one job, together with others that are sent at the same time. Its payload is checked by the
   * schema first, and sent as it was given.
   */
  send<Input>(kind: string | JobKind<Input>, job: JobToSend<NoInfer<Input>>): Promise<SendResult>;
  /**
   * Sends many in as few calls as SQS allows; one result for each job, in their order.
   * @throws UnsendableJobError when it is not given a list; nothing is sent then
   */
  sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]>;
}

/** A producer that takes jobs of the given kinds only, each with its own payload. */
export interface JobsProducer<Kinds extends readonly AnyJobKind[]> extends ProducerLife {
  /** As `Producer.send`; the payload is checked also when only the type is named. */
  send<const Chosen extends KnownType<Kinds> | Kinds[number]>(
    kind: Chosen,
    job: JobToSend<PayloadOf<Kinds, Chosen>>,
  ): Promise<SendResult>;
  /** As `Producer.sendMany`. */
  sendMany(jobs: readonly KnownJob<Kinds>[]): Promise<readonly SendResult[]>;
}

/** What a producer works with. */
export interface ProducerArguments extends SendTarget {
  readonly clock: Clock;
  readonly options?: ProducerOptions;
  /**
   * Where a payload goes that is too large for a message; the workers must be given the same store.
   * @defaultValue such jobs are refused
   */
  readonly claimCheck?: PayloadStore;
  /**
   * Told of what works and should be otherwise; must not throw.
   * @defaultValue Node's warnings, once for each type of job
   */
  readonly onEvent?: (event: ProducerEvent) => void;
  /** 0 up to 1, for the pauses. @defaultValue Math.random */
  readonly random?: () => number;
}

/** What a producer works with that knows its jobs. */
export interface JobsProducerArguments<Kinds extends readonly AnyJobKind[]>
  extends ProducerArguments {
  /** Definitions of the jobs, or as much of them as this service shares: type and schema. */
  readonly jobs: Kinds;
}

/**
 * A producer for one queue.
 *
 * @throws InvalidOptionsError
 * @example
 * const client = new SQSClient({ maxAttempts: 1 });
 * const producer = createProducer({ client, queueUrl, clock, jobs: [greet] });
 * const result = await producer.send("mail.greet", { tenantId: "acme", jobId: "mail-7", payload });
 */
export function createProducer<const Kinds extends readonly AnyJobKind[]>(
  args: JobsProducerArguments<Kinds>,
): JobsProducer<Kinds>;
export function createProducer(args: ProducerArguments): Producer;
export function createProducer(
  args: ProducerArguments & { readonly jobs?: readonly AnyJobKind[] },
): Producer {
  const { clock, claimCheck, random = Math.random } = args;
  const options = resolveProducerOptions(args.options, args.queueUrl);
  const kinds = new JobKinds(args.jobs);
  const sender = new SqsSender(args, options, { clock, random });
  const madeUpIds = new MadeUpIds(args.onEvent);
  const store = claimCheck === undefined ? {} : { store: claimCheck };
  return new SqsProducer(new JobLine({ sender, options, clock, kinds, madeUpIds, ...store }));
}

class SqsProducer implements Producer {
  readonly #line: JobLine;
  #closing: Promise<CloseReport> | undefined;

  constructor(line: JobLine) {
    this.#line = line;
  }

  async send<Input>(
    kind: string | JobKind<Input>,
    job: JobToSend<NoInfer<Input>>,
  ): Promise<SendResult> {
    return await this.#line.join({ ...job, type: kind as string | JobKind }, true).result;
  }

  async sendMany(jobs: readonly TypedJobToSend[]): Promise<readonly SendResult[]> {
    if (!Array.isArray(jobs)) throw new UnsendableJobError("sendMany must be given a list of jobs");
    const pending = jobs.map((job) => this.#line.join(job, false));
    await this.#line.allPrepared();
    return await this.#line.hurry(Promise.all(pending.map(({ result }) => result)));
  }

  async sendJob({ type, ...job }: Required<ChildJob>): Promise<SentChild> {
    const result = await this.send(type, job);
    if (result.kind !== "sent") throw result.error;
    return { jobId: result.jobId, messageId: result.messageId };
  }

  ready(): Promise<void> {
    return this.#line.ready();
  }

  async flush(): Promise<void> {
    await this.#line.hurry(this.#line.allEnded());
  }

  async close(options?: { readonly withinMs?: number }): Promise<CloseReport> {
    const { withinMs } = resolveCloseOptions(options);
    this.#closing ??= this.#line.close(withinMs);
    return await this.#closing;
  }
}
