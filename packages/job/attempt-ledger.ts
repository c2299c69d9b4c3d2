/** Port: how often a job was tried and how those tries ended, kept beyond its deliveries. */

import type { JobIdentity } from "./identity.ts";

/** What became of a job's earlier tries. */
export interface AttemptHistory {
  /** Tries that failed. */
  readonly failures: number;
  /** Tries that were stopped before they were done, since progress was last saved. */
  readonly interruptions: number;
  /** Tries that began and never ended: their worker died. That of a first receive is not seen. */
  readonly crashes: number;
  /** Tries that asked to come back later. */
  readonly putOffs: number;
  /** Why the job was given up, when its message came back all the same: it is not run again. */
  readonly givenUp?: GivenUp;
  /** The numbers stand for what nobody counted; an operator is better not told of them. */
  readonly isEstimate?: true;
}

/** Why a job is not tried any more. */
export interface GivenUp {
  /** A stable word, for example `"attempts-exhausted"`. */
  readonly code: string;
  /** One sentence for an operator; never a payload. */
  readonly detail: string;
  /** How the tries went, by a stable word each. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** How a try ended. */
export type AttemptEnding =
  | { readonly kind: "succeeded" }
  | { readonly kind: "failed" }
  | { readonly kind: "interrupted" }
  | { readonly kind: "put-off" }
  | { readonly kind: "given-up"; readonly reason: GivenUp }
  /** It never began, or its lease was lost under it: its start is taken back, nothing is counted. */
  | { readonly kind: "uncounted" };

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
  end(ending: AttemptEnding): Promise<void> | undefined;
}

/** What a ledger says to a delivery. A ledger that knows more of a job adds kinds of its own. */
export type AttemptOpening = OpenAttempt;

/**
 * Counts the tries of jobs.
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
