/** What a handler is given: signals, time left, child jobs, a log. */

import type { Once } from "./effect.ts";
import type { JobId, JobType, TenantId } from "./identity.ts";
import type { JobCheckpoint, MessageCopy } from "./job-ledger.ts";

/** What a handler knows about its right to work. */
export interface JobLease {
  /** How long the lease is safely held if nothing extends it any more; 0 when it is lost. */
  remainingMs(): number;
  /** @throws LeaseLostError when another worker may have the message already. */
  assertHeld(): void;
}

/** A line of the handler in the worker's log; tenant, job and type are added to it. */
export interface JobLog {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Never a payload, never a secret: ids, counts and durations. */
export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** A job that a running job asks for. */
export interface ChildJob {
  readonly type: string;
  readonly payload: unknown;
  /** @defaultValue the parent's tenant */
  readonly tenantId?: string;
  /**
   * The child's business identity.
   * @defaultValue the parent's job id and the name given to `send`, so that a repeated run of the
   * parent sends the same child again instead of another one
   */
  readonly jobId?: string;
  /** 0..900,000. @defaultValue 0 */
  readonly delayMs?: number;
}

/** A child that the queue has accepted. */
export interface SentChild {
  readonly jobId: string;
  readonly messageId: string;
}

/** Marks a result as complete whatever the signal says; made by `context.done`. */
export interface Done<Result = unknown> {
  readonly kind: "done";
  readonly result: Result;
}

/** The message that brought a job, without the right to work on it. */
export interface JobMessage extends MessageCopy {
  readonly messageId: string;
  /** When the producer's send arrived, Unix time by SQS's clock; 0 when SQS did not say. */
  readonly sentAtMs: number;
  readonly sequenceNumber?: string;
}

/** What a handler is given beside its job. */
export interface JobContext {
  readonly tenantId: TenantId;
  readonly jobId: JobId;
  readonly jobType: JobType;
  /** 1 on the first run; grows by failures, not by deliveries. */
  readonly attempt: number;
  /** How often SQS has delivered the message; releases and double deliveries count, too. */
  readonly receiveCount: number;
  /** What came from SQS, for whoever has to hand it on: trace context, sequence number, raw body. */
  readonly message: JobMessage;
  /**
   * Aborts when the handler must stop; its reason is a `JobAbortedError`. A handler that reads it
   * and returns after the abort is run again elsewhere unless it returns `done(...)`.
   */
  readonly signal: AbortSignal;
  /** Aborts at SIGTERM, as a hint: write a checkpoint, start nothing that cannot finish. */
  readonly draining: AbortSignal;
  readonly lease: JobLease;
  /** Time to the nearest of job timeout and, in a drain, drain deadline. */
  remainingMs(): number;
  /**
   * Has a side effect happen once, however often the job is delivered.
   *
   * What stops the job (another worker has it, it was parked, a drain, a store that is down) is thrown
   * as a `ControlOutcomeError` and decides how the run ends, whatever the handler makes of it.
   *
   * @param name - unique within this job; part of the provider's key
   * @param input - whatever the effect depends on, as JSON: another input under the same name is
   * refused for good
   * @throws RejectedError, ControlOutcomeError, PermanentJobError for another input, or whatever `run`
   * threw; LedgerMissingError when the worker has no job ledger
   */
  readonly once: Once;
  /**
   * Progress that the next run goes on from. A type that uses it says `checkpoints: true`.
   * @throws LedgerMissingError when the worker has no job ledger
   */
  readonly checkpoint: JobCheckpoint;
  /**
   * Sends a child job before this one is acked.
   * @param name - unique within this job; part of the child's identity
   */
  send(name: string, child: ChildJob): Promise<SentChild>;
  /** Says that the work is complete although the signal may have aborted meanwhile. */
  done<Result>(result: Result): Done<Result>;
  readonly log: JobLog;
}

/** Port: how a context sends child jobs; the service wires a producer into it. */
export interface JobSender {
  sendJob(
    job: Required<Pick<ChildJob, "type" | "payload" | "tenantId" | "jobId" | "delayMs">>,
  ): Promise<SentChild>;
}
