/** Port: how often a job was tried and how those tries ended, for a worker without a job ledger. */

import type { JobIdentity } from "./identity.ts";
import type { AttemptHistory, ControlOutcome, JobEndingNote } from "./job-ledger.ts";

/** One delivery of a job. */
export interface AttemptDelivery {
  readonly job: JobIdentity;
  /** A given-up job that comes with another one was sent again, and starts afresh. */
  readonly messageId: string;
  /**
   * SQS's receive count, and one more for each try before this one on the same lease (FIFO). A later
   * receive may therefore come with a smaller number than the last try had.
   */
  readonly receiveCount: number;
}

/** A try that may begin. */
export interface OpenAttempt {
  readonly kind: "open";
  readonly history: AttemptHistory;
  /**
   * Writes how the try ended; called once. Awaited before the message is settled, so that the next
   * delivery finds it.
   *
   * @returns nothing when there is nothing to write
   */
  end(ending: JobEndingNote): Promise<void> | undefined;
}

/** What counting says to a delivery: it may be tried, or was given up. */
export type AttemptOpening = OpenAttempt | Extract<ControlOutcome, { readonly kind: "dead" }>;

/**
 * Counts the tries of jobs, and knows nothing of their effects: `once` fails.
 *
 * A job that succeeds at once costs nothing: the first receive of a message reads and writes nothing
 * before its run, and a success there writes nothing either. From the second receive on an opening is
 * one write, which records the start and brings the history; every ending is one more. A start that
 * no ending follows is a crash.
 */
export interface AttemptLedger {
  /** Answers without a promise when there is nothing to ask. */
  open(delivery: AttemptDelivery): Promise<AttemptOpening> | AttemptOpening;
}
