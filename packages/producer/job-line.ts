/** The line that jobs stand in: made ready one after the other as there is room, then sent together. */

import type { Clock } from "@leasehold/clock";
import type { PayloadClaim, PayloadStore } from "@leasehold/job";
import { JobNotAcceptedError, SendFailedError } from "./errors.ts";
import type { JobKinds } from "./job-kind.ts";
import type { MessageEntry } from "./message-entry.ts";
import type { ResolvedProducerOptions } from "./options.ts";
import { type PendingJob, PendingJobs } from "./pending-jobs.ts";
import { type PreparationFacts, prepareJob, type TypedJobToSend } from "./prepared-job.ts";
import type { MadeUpIds } from "./producer-event.ts";
import { SendBuffer } from "./send-buffer.ts";
import {
  type CloseReport,
  failure,
  resultOf,
  type SendResult,
  type UnsentJob,
} from "./send-result.ts";
import type { SqsSender } from "./sqs-sender.ts";
import { activeTrace } from "./trace-context.ts";
import { createUuidV7 } from "./uuid-v7.ts";

/** What a line works with. */
export interface JobLineParts {
  readonly sender: SqsSender;
  readonly options: ResolvedProducerOptions;
  readonly clock: Clock;
  readonly kinds: JobKinds;
  readonly madeUpIds: MadeUpIds;
  readonly store?: PayloadStore;
}

/**
 * Jobs from the call that brought them to their results.
 *
 * One job is made ready at a time: that keeps the order of the calls, also when a schema takes its
 * time, and lets no more jobs be written out than there is room for.
 */
export class JobLine {
  readonly #parts: JobLineParts;
  readonly #pending: PendingJobs;
  readonly #buffer: SendBuffer;
  readonly #newJobId: () => string;
  readonly #giveUp = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(parts: JobLineParts) {
    const { sender, options, clock } = parts;
    this.#parts = parts;
    this.#pending = new PendingJobs(options);
    this.#buffer = new SendBuffer(
      (batch) => sender.send(batch, this.#giveUp.signal),
      options,
      clock,
    );
    this.#newJobId = createUuidV7(clock);
  }

  /** Takes a job; `mayRefuse` when there is no room, if the options say so. */
  join(job: TypedJobToSend, mayRefuse: boolean): { readonly result: Promise<SendResult> } {
    const { maxBuffered, whenFull } = this.#parts.options;
    if (this.#isClosing) return refusal("closed", "its producer was closed");
    if (mayRefuse && whenFull === "refuse" && this.#pending.isFull) {
      return refusal("full", `${maxBuffered} jobs, or as many bytes as may be, are under way`);
    }
    const jobId = job?.jobId ?? this.#newJobId();
    const jobType = typeof job?.type === "string" ? job.type : job?.type?.type;
    const pending = this.#pending.open({ tenantId: job?.tenantId, jobType, jobId });
    const facts = this.#factsFor(jobId);
    this.#last = this.#last.then(() => this.#enter(job, pending, facts));
    return pending;
  }

  /** Resolves when one more job may come without waiting. */
  async ready(): Promise<void> {
    while (this.#pending.isFull && !this.#isClosing) await this.#someLeft();
  }

  /** Resolves when each job that has come so far is in the buffer, or has its result. */
  allPrepared(): Promise<void> {
    return this.#last;
  }

  /** Resolves when each job that has come so far has its result. */
  async allEnded(): Promise<void> {
    await Promise.allSettled(this.#pending.all().map(({ result }) => result));
  }

  /** Lets nothing linger until `done` has ended. */
  hurry<Result>(done: Promise<Result>): Promise<Result> {
    return this.#buffer.hurry(done);
  }

  /** Takes no more jobs, and ends those under way within the time. */
  async close(withinMs: number): Promise<CloseReport> {
    this.#isClosing = true;
    const jobs = this.#pending.all();
    const ended = new AbortController();
    const allEnded = this.hurry(this.allEnded()).then(() => ended.abort());
    await this.#parts.clock.sleep(withinMs, ended.signal);
    if (!ended.signal.aborted) await this.#abandon(jobs);
    await allEnded;
    this.#pending.close();
    const unsent = await Promise.all(jobs.map(unsentJob));
    return { unsent: unsent.filter((job) => job !== undefined) };
  }

  async #abandon(jobs: readonly PendingJob[]): Promise<void> {
    this.#giveUp.abort();
    await this.#buffer.drop();
    const fault = { code: "ProducerClosed", attempts: 0, maybeSent: false };
    for (const job of jobs) job.end(failure(new SendFailedError(fault), job.names.jobId));
  }

  /** What a job finds at the moment of its call. */
  #factsFor(jobId: string): PreparationFacts {
    const { options, kinds, store, clock } = this.#parts;
    return {
      ...{ fifo: options.fifo, kinds, hasStore: store !== undefined },
      ...{ jobId, createdAtMs: clock.wallMs(), trace: activeTrace() },
    };
  }

  /** Nothing lingers for company that cannot come in. */
  #someLeft(): Promise<void> {
    return this.hurry(this.#pending.someLeft());
  }

  async #enter(job: TypedJobToSend, pending: PendingJob, facts: PreparationFacts): Promise<void> {
    try {
      while (pending.isOpen && !this.#pending.hasRoom) await this.#someLeft();
      if (!pending.isOpen) return;
      const prepared = await prepareJob(job, facts);
      if (prepared.kind === "refused") return pending.end(prepared);
      if (!pending.isOpen) return;
      const { identity, entry, claim } = prepared;
      if (!job.jobId) {
        this.#parts.madeUpIds.note(identity.jobType, identity.tenantId, identity.jobId);
      }
      pending.occupy(entry.bytes + (claim?.ref.bytes ?? 0));
      if (claim === undefined) return this.#add(entry, pending);
      const stored = this.#store(claim, entry, pending);
      // On a standard queue a slow store holds up nobody else.
      if (facts.fifo) await stored;
    } catch (bug) {
      pending.fail(bug);
    }
  }

  async #store(claim: PayloadClaim, entry: MessageEntry, pending: PendingJob): Promise<void> {
    try {
      await this.#parts.store?.put(claim.key, claim.json);
      this.#add(entry, pending);
    } catch (cause) {
      const fault = { code: "PayloadStoreFailed", attempts: 0, maybeSent: false };
      pending.end(failure(new SendFailedError(fault, { cause }), pending.names.jobId));
    }
  }

  #add(entry: MessageEntry, pending: PendingJob): void {
    if (!pending.isOpen) return;
    const { jobId } = pending.names;
    this.#buffer.add(entry, (outcome) => pending.end(resultOf(outcome, jobId)));
  }
}

function refusal(reason: JobNotAcceptedError["reason"], detail: string) {
  const error = new JobNotAcceptedError(reason, detail);
  return { result: Promise.resolve<SendResult>({ kind: "refused", error }) };
}

async function unsentJob({ names, result }: PendingJob): Promise<UnsentJob | undefined> {
  const ended = await result.catch((error: Error) => ({
    ...{ kind: "bug" as const, error, maybeSent: false },
  }));
  if (ended.kind === "sent") return undefined;
  const maybeSent = ended.kind === "failed" && ended.maybeSent;
  return { ...names, maybeSent, error: ended.error };
}
