/** What goes wrong in Lambda before any message can be told from the others. */

/** What came is no batch of one SQS queue, so no message of it can be reported as failed. */
export class InvalidSqsEventError extends Error {
  override readonly name = "InvalidSqsEventError";
  readonly code = "INVALID_SQS_EVENT";

  /** @param problem - what was expected, what came instead, and the mend; never a body */
  constructor(problem: string) {
    super(problem);
  }
}

/** The function's timeout leaves no time in which a job could start: none ever would. */
export class LambdaTimeTooShortError extends Error {
  override readonly name = "LambdaTimeTooShortError";
  readonly code = "LAMBDA_TIME_TOO_SHORT";

  constructor(remainingMs: number, lastStartMs: number) {
    super(
      `the invocation began with ${remainingMs} ms left, and no job starts in the last ` +
        `${lastStartMs} ms: raise the function's timeout, or lower lastStartMs`,
    );
  }
}

/** A middleware of this package was used where it cannot work. */
export class MiddlewareUseError extends Error {
  override readonly name = "MiddlewareUseError";
  readonly code = "MIDDLEWARE_USE";
}
