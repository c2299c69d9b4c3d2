/** What a handler or a malformed job says by throwing, and why a handler is asked to stop. */

/** Nothing will make this job succeed: it goes to the dead-letter queue with `reason`, at once. */
export class PermanentJobError extends Error {
  override readonly name = "PermanentJobError";
  readonly code = "PERMANENT_JOB_FAILURE";
  /** Why, in a few words without payload or secrets; stored with the dead letter. */
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Not now: the job is wanted again after `delayMs`. Not a failure, no attempt is used up. */
export class RetryLaterError extends Error {
  override readonly name = "RetryLaterError";
  readonly code = "RETRY_LATER";
  readonly delayMs: number;

  /** @param delayMs - 0 up to what is left of SQS's twelve hours; more is clamped */
  constructor(
    delayMs: number,
    message: string = `try again in ${delayMs} ms`,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.delayMs = delayMs;
  }
}

/** Why a running handler is asked to stop. */
export type AbortCause =
  | "lease-lost"
  | "drain-deadline"
  | "job-timeout"
  | "hold-limit"
  | "cancelled"
  | "stopped";

/** The reason of `context.signal` once it has aborted. */
export class JobAbortedError extends Error {
  override readonly name = "JobAbortedError";
  readonly code = "JOB_ABORTED";
  /**
   * `lease-lost`: another worker may be at it already, stop side effects. `drain-deadline`: the
   * process ends, the job runs again elsewhere. `job-timeout`: it took longer than its limit.
   * `hold-limit`: SQS's twelve hours are over. `cancelled`: an operator said so. `stopped`: the job
   * has come to an end in its ledger (another worker has it, it was parked, ...): `cause` is the
   * `ControlOutcomeError` that says which.
   */
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause, options?: ErrorOptions) {
    super(`the job must stop: ${abortCause}`, options);
    this.abortCause = abortCause;
  }
}

/** A tenant id, job id or job type that cannot be one. */
export class InvalidIdentityError extends Error {
  override readonly name = "InvalidIdentityError";
  readonly code = "INVALID_IDENTITY";

  /** @param problem - what the field must be and what it was, for example `tenant_id must ...` */
  constructor(problem: string) {
    super(problem);
  }
}

/** A payload that its schema refuses; `problems` never holds the payload itself. */
export class InvalidPayloadError extends Error {
  override readonly name = "InvalidPayloadError";
  readonly code = "INVALID_PAYLOAD";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the payload does not fit its schema: ${problems.join("; ")}`);
    this.problems = problems;
  }
}
