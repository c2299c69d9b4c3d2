/** The jobs under way, from the call that brought them to their result: how many, how large. */

import type { ResolvedProducerOptions } from "./options.ts";
import type { SendResult } from "./send-result.ts";

/** Whose result a job's caller waits for; as the caller named it, valid or not. */
export interface JobNames {
  readonly tenantId: string;
  readonly jobType: string;
  readonly jobId: string;
}

/** One job under way. */
export class PendingJob {
  readonly names: JobNames;
  /** Rejects only by `fail`. */
  readonly result: Promise<SendResult>;
  readonly #resolve: (result: SendResult) => void;
  readonly #reject: (bug: unknown) => void;
  readonly #jobs: PendingJobs;
  #bytes: number | undefined;
  #isOpen = true;

  constructor(names: JobNames, jobs: PendingJobs) {
    const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
    this.names = names;
    this.result = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#jobs = jobs;
  }

  /** False once it has a result; a second one counts for nothing. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** It is ready to be sent, and takes up room now. */
  occupy(bytes: number): void {
    this.#bytes = bytes;
    this.#jobs.occupy(bytes);
  }

  end(result: SendResult): void {
    if (this.#leave()) this.#resolve(result);
  }

  fail(bug: unknown): void {
    if (this.#leave()) this.#reject(bug);
  }

  #leave(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) this.#jobs.leave(this, this.#bytes);
    return wasOpen;
  }
}

/** All jobs under way. While there is one the process stays alive; timers of the clock do not care. */
export class PendingJobs {
  readonly #limits: Pick<ResolvedProducerOptions, "maxBuffered" | "maxBufferedBytes">;
  readonly #open = new Set<PendingJob>();
  readonly #waiters = new Set<() => void>();
  #ready = 0;
  #bytes = 0;
  #keepAlive: InstanceType<typeof MessageChannel> | undefined;

  constructor(limits: Pick<ResolvedProducerOptions, "maxBuffered" | "maxBufferedBytes">) {
    this.#limits = limits;
  }

  open(names: JobNames): PendingJob {
    const job = new PendingJob(names, this);
    if (this.#open.size === 0) {
      this.#keepAlive ??= new MessageChannel();
      this.#keepAlive.port1.ref();
    }
    this.#open.add(job);
    return job;
  }

  /** In the order in which they came. */
  all(): readonly PendingJob[] {
    return [...this.#open];
  }

  /** Whether one more may come, counting those that have not been made ready yet. */
  get isFull(): boolean {
    return this.#open.size >= this.#limits.maxBuffered || this.#isHeavy;
  }

  /** Whether one more may be made ready. */
  get hasRoom(): boolean {
    return this.#ready < this.#limits.maxBuffered && !this.#isHeavy;
  }

  /** Resolves when a job has left. */
  someLeft(): Promise<void> {
    return new Promise((resolve) => this.#waiters.add(resolve));
  }

  /** @internal for the job itself */
  occupy(bytes: number): void {
    this.#ready += 1;
    this.#bytes += bytes;
  }

  /** @internal for the job itself */
  leave(job: PendingJob, bytes: number | undefined): void {
    this.#open.delete(job);
    if (bytes !== undefined) {
      this.#ready -= 1;
      this.#bytes -= bytes;
    }
    if (this.#open.size === 0) this.#keepAlive?.port1.unref();
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }

  /** No job will come any more. */
  close(): void {
    this.#keepAlive?.port1.close();
    this.#keepAlive = undefined;
  }

  get #isHeavy(): boolean {
    return this.#bytes >= this.#limits.maxBufferedBytes;
  }
}
