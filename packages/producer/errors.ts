/** Why a job could not be sent. */

/** SQS has no such message: a delay too long, an order where there is none. Nothing was sent. */
export class UnsendableJobError extends Error {
  override readonly name = "UnsendableJobError";
  readonly code = "UNSENDABLE_JOB";

  /** @param problem - what was asked, what the limit is, and the way out */
  constructor(problem: string) {
    super(problem);
  }
}

/** A job whose message SQS would not take, by its size. Nothing was sent. */
export class JobTooLargeError extends Error {
  override readonly name = "JobTooLargeError";
  readonly code = "JOB_TOO_LARGE";
  /** Body and attributes, names and types included, in UTF-8. */
  readonly bytes: number;
  readonly limitBytes: number;

  constructor(jobId: string, bytes: number, limitBytes: number) {
    super(
      `job ${jobId} takes ${bytes} bytes on the wire, SQS takes ${limitBytes}: ` +
        `give createProducer a claimCheck store for such payloads, or store the payload yourself ` +
        `and send where it lies`,
    );
    this.bytes = bytes;
    this.limitBytes = limitBytes;
  }
}

/** The producer took no more jobs. Nothing was sent. */
export class JobNotAcceptedError extends Error {
  override readonly name = "JobNotAcceptedError";
  readonly code = "JOB_NOT_ACCEPTED";
  /** `closed`: for good, by `close()`. `full`: for now, by `whenFull: "refuse"`. */
  readonly reason: "closed" | "full";

  constructor(reason: "closed" | "full", detail: string) {
    super(`the job was not accepted: ${detail}`);
    this.reason = reason;
  }
}

/** SQS refused a message, or no attempt to send it came to a good end. */
export class SendFailedError extends Error {
  override readonly name = "SendFailedError";
  readonly code = "SEND_FAILED";
  /**
   * What SQS or the network called the last fault, for example `QueueDoesNotExist`;
   * `ProducerClosed` when the deadline of `close()` came first, `PayloadStoreFailed` when the
   * claim-check store did not take the payload.
   */
  readonly faultCode: string;
  /** How often the job was put into a request. */
  readonly attempts: number;
  /** Whether an attempt ended without an answer, so that SQS may have the job all the same. */
  readonly maybeSent: boolean;

  constructor(
    fault: { readonly code: string; readonly attempts: number; readonly maybeSent: boolean },
    options?: ErrorOptions,
  ) {
    const doubt = fault.maybeSent ? ", and may have been sent all the same" : "";
    super(`could not be sent: ${fault.code} (attempts: ${fault.attempts})${doubt}`, options);
    this.faultCode = fault.code;
    this.attempts = fault.attempts;
    this.maybeSent = fault.maybeSent;
  }
}
