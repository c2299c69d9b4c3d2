/** One invocation: a batch becomes leases, leases become runs, and their ends become the answer. */

import type { Clock } from "@leasehold/clock";
import type {
  AnyJobDefinition,
  AttemptLedger,
  JobSender,
  MessageReader,
  PayloadStore,
  WorkerLedger,
} from "@leasehold/job";
import { JobRun, type RunParts, receiveBudgets, receiveCountLedger } from "@leasehold/job-run";
import {
  type Lease,
  type LeaseEvent,
  type LeaseQueue,
  type LeaseRef,
  type LeaseSource,
  openLeaseSource,
} from "@leasehold/lease";
import { LambdaTimeTooShortError } from "./errors.ts";
import type { BatchResponse } from "./lambda.ts";
import type { LambdaEvent } from "./lambda-event.ts";
import { LambdaLeaseQueue } from "./lambda-lease-queue.ts";
import type { ResolvedLambdaOptions } from "./options.ts";
import type { Batch } from "./sqs-event.ts";
import { StartOrder } from "./start-order.ts";

/** What one invocation works with. */
export interface InvocationParts {
  readonly batch: Batch;
  readonly jobs: readonly AnyJobDefinition[];
  readonly requestId: string;
  /** When it began, what was left of it. */
  readonly remainingMs: number;
  readonly options: ResolvedLambdaOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly queue?: LeaseQueue;
  readonly ledger?: WorkerLedger;
  readonly attemptLedger?: AttemptLedger;
  readonly sender?: JobSender;
  readonly payloadStore?: PayloadStore;
  readonly readers?: readonly MessageReader[];
  readonly onEvent: (event: LambdaEvent) => void;
}

const SECOND_MS = 1_000;
/** How long a message stays hidden after the invocation, so that Lambda's delete finds it so. */
const BEYOND_MS = 10_000;
const CALL_TIMEOUT_MS = 2_000;
/** How long the ledger may take to say what it gives up. */
const GIVE_UP_MS = 250;

/** Nothing of it outlives the invocation. */
export class Invocation {
  readonly #parts: InvocationParts;
  readonly #deadlineAtMs: number;
  readonly #queue: LambdaLeaseQueue;
  readonly #source: LeaseSource;
  readonly #order: StartOrder;
  readonly #draining = new AbortController();
  /** Ends whatever waits for its time, once the answer has left. */
  readonly #over = new AbortController();
  readonly #runOf = new WeakMap<LeaseRef, JobRun>();
  #runs: readonly JobRun[] = [];

  /** @throws LambdaTimeTooShortError */
  constructor(parts: InvocationParts) {
    const { batch, options, remainingMs, clock, random, onEvent, jobs } = parts;
    if (batch.items.length > 0 && remainingMs <= options.lastStartMs) {
      throw new LambdaTimeTooShortError(remainingMs, options.lastStartMs);
    }
    this.#parts = parts;
    this.#deadlineAtMs = clock.monotonicMs() + remainingMs;
    this.#queue = new LambdaLeaseQueue({ ...parts, ...options });
    this.#source = openLeaseSource({
      ...{ queue: this.#queue, clock, random, options: leaseOptions(remainingMs) },
      onEvent: (event) => onEvent(this.#withJob(event)),
    });
    const caps = jobs.map(
      ({ type, maxConcurrent = Number.POSITIVE_INFINITY }) => [type, maxConcurrent] as const,
    );
    this.#order = new StartOrder(options.concurrency, new Map(caps));
  }

  /** Runs the batch. Rejects only when nothing was run. */
  async run(): Promise<BatchResponse> {
    const { items } = this.#parts.batch;
    if (items.length === 0) return this.#queue.answer();
    const timers = this.#schedule();
    const leases = await this.#source.claim({ maxMessages: items.length, waitMs: 0 });
    this.#runs = leases.map((lease) => this.#begin(lease));
    await this.#untilAnswer(this.#ended());
    const { ledger } = this.#parts;
    if (ledger !== undefined) await this.#stop(ledger);
    this.#over.abort();
    this.#source.close();
    for (const cancel of timers) cancel();
    return this.#answer();
  }

  #withJob(event: LeaseEvent): LambdaEvent {
    const job = "lease" in event ? this.#runOf.get(event.lease)?.job : undefined;
    return job === undefined ? event : { ...event, job };
  }

  #begin(lease: Lease): JobRun {
    const run = new JobRun(lease, this.#runParts);
    this.#runOf.set(lease.ref, run);
    void run.worked.then(() => this.#order.leave(lease));
    return run;
  }

  async #ended(): Promise<void> {
    await Promise.all(this.#runs.map(({ ended }) => ended));
    await this.#source.flush();
    // What could not be recorded yet is written before the sandbox is frozen.
    await this.#parts.ledger?.idle();
  }

  /** Waits, but not beyond the moment at which the answer has to leave. */
  async #untilAnswer(work: Promise<void>): Promise<void> {
    const { clock, options } = this.#parts;
    const waitMs = this.#deadlineAtMs - options.answerMs - clock.monotonicMs();
    await Promise.race([work, clock.sleep(waitMs, this.#over.signal)]);
  }

  async #stop(ledger: WorkerLedger): Promise<void> {
    const hasToTell = ledger.unrecorded > 0;
    const stopped = ledger.stop();
    if (!hasToTell) return;
    await Promise.race([stopped, this.#parts.clock.sleep(GIVE_UP_MS, this.#over.signal)]);
  }

  #answer(): BatchResponse {
    const { requestId, batch, clock, onEvent } = this.#parts;
    const response = this.#queue.answer();
    onEvent({
      kind: "lambda.answered",
      ...{ requestId, queue: batch.queueName, messages: batch.items.length },
      failures: response.batchItemFailures.length,
      stillRunning: this.#runs.filter(({ ignoredAbort }) => ignoredAbort).length,
      timeLeftMs: this.#deadlineAtMs - clock.monotonicMs(),
    });
    return response;
  }

  /** What happens as the end comes near: nothing starts, then signals abort, then leases go back. */
  #schedule(): readonly (() => void)[] {
    const { clock, options, remainingMs } = this.#parts;
    const { lastStartMs, abortMs, answerMs } = options;
    const abandonMs = (abortMs + answerMs) / 2;
    const before = (endMs: number, act: () => void) => clock.schedule(remainingMs - endMs, act);
    return [
      before(lastStartMs, () => this.#draining.abort()),
      before(abortMs, () => {
        for (const run of this.#runs) run.abort("drain-deadline");
      }),
      before(abandonMs, () => {
        // A handler that goes on has the sandbox to the end of the invocation.
        const delayMs = wholeSeconds(abandonMs) + SECOND_MS;
        for (const run of this.#runs) run.abandon(delayMs);
      }),
    ];
  }

  get #runParts(): RunParts {
    const { clock, jobs, options, random, onEvent } = this.#parts;
    const { ledger, attemptLedger, sender, payloadStore, readers } = this.#parts;
    const { maxAttempts: failures, interruptionBudget: interruptions, crashBudget } = options;
    const isCounted = ledger !== undefined || attemptLedger !== undefined;
    return {
      ...{ clock, random, onEvent, draining: this.#draining.signal },
      jobs: new Map(jobs.map((definition) => [definition.type, definition])),
      policy: {
        jobTimeoutMs: options.jobTimeoutMs,
        budgets: isCounted
          ? { failures, interruptions, crashes: crashBudget }
          : receiveBudgets(failures + interruptions),
        ledgerTimeoutMs: CALL_TIMEOUT_MS,
        backoff: { baseMs: options.backoffBaseMs, capMs: options.backoffCapMs },
        unknownTypeGraceMs: options.unknownTypeGraceMs,
      },
      ledger: attemptLedger ?? receiveCountLedger,
      ...(ledger && { jobLedger: ledger }),
      ...(sender && { sender }),
      ...(payloadStore && { payloadStore }),
      ...(readers && { readers }),
      turn: (lease, job) => this.#order.turn(lease, job),
      turnAlone: (lease) => this.#order.turnAlone(lease),
      // The end of an invocation is known from its beginning.
      drainByMs: () => this.#deadlineAtMs - options.abortMs,
      shortestDelayMs: () => 0,
      giveBack: (lease, delayMs, releaseClass) => lease.release(delayMs, releaseClass),
    };
  }
}

/** One extension at the start reaches beyond the end, so that none is due on the way. */
function leaseOptions(remainingMs: number) {
  const extendEveryMs = wholeSeconds(remainingMs) + BEYOND_MS;
  return {
    ...{ extendEveryMs, visibilityTimeoutMs: extendEveryMs + BEYOND_MS },
    ...{ callTimeoutMs: CALL_TIMEOUT_MS, leaseMarginMs: SECOND_MS, clockMarginMs: SECOND_MS },
    ...{ ackLingerMs: 0, releaseGatherMs: 20 },
  };
}

function wholeSeconds(durationMs: number): number {
  return Math.ceil(durationMs / SECOND_MS) * SECOND_MS;
}
