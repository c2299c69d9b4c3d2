/** What became of a job, for whoever sent it. */

import type { JobNotAcceptedError, SendFailedError } from "./errors.ts";
import type { UnpreparedError } from "./prepared-job.ts";
import type { SendOutcome } from "./sqs-sender.ts";

/** What became of one job. */
export type SendResult =
  | { readonly kind: "sent"; readonly messageId: string; readonly jobId: string }
  /** Nothing was sent, and sending it again unchanged is of no use (once there is room, if full). */
  | {
      readonly kind: "refused";
      readonly error: UnpreparedError | JobNotAcceptedError | SendFailedError;
    }
  /** Send it again with this `jobId`: when `maybeSent`, the queue may have it already. */
  | {
      readonly kind: "failed";
      readonly error: SendFailedError;
      readonly maybeSent: boolean;
      readonly jobId: string;
    };

/** A job that was accepted, and is not surely on the queue. */
export interface UnsentJob {
  readonly tenantId: string;
  readonly jobType: string;
  readonly jobId: string;
  /** Whether the queue may have it all the same. */
  readonly maybeSent: boolean;
  readonly error: Error;
}

/** What a producer left behind. */
export interface CloseReport {
  /** In the order in which they came; empty when every accepted job is on the queue. */
  readonly unsent: readonly UnsentJob[];
}

/** The result of a job whose entry was in the sender's hands. */
export function resultOf(outcome: SendOutcome, jobId: string): SendResult {
  switch (outcome.kind) {
    case "sent":
      return { ...outcome, jobId };
    case "refused":
      return { kind: "refused", error: outcome.error };
    case "failed":
      return failure(outcome.error, jobId);
  }
}

/** The result of a job that may be sent again. */
export function failure(error: SendFailedError, jobId: string): SendResult {
  return { kind: "failed", error, maybeSent: error.maybeSent, jobId };
}
