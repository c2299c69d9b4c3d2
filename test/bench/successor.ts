/** The worker that comes after: takes whatever is visible, does it at once, and deletes it. */

import type { EmbeddedSqs } from "@leasehold/embedded-sqs";
import type { TrialRecord } from "./trial-record.ts";

/** What a successor works with. */
export interface SuccessorParts {
  readonly sqs: EmbeddedSqs;
  readonly record: TrialRecord;
  readonly queueUrl: string;
  /** An effect was done. */
  readonly onEffect: (jobId: string) => void;
}

/** Longer than any trial, so that its poll is always the oldest and is served first. */
const WAIT_SECONDS = 20;
const VISIBILITY_SECONDS = 60;

/** Works a queue inside this process, without a wire that could fail. */
export class Successor {
  readonly #parts: SuccessorParts;
  readonly #stopping = new AbortController();

  constructor(parts: SuccessorParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.#loop().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #loop(): Promise<void> {
    const { sqs, record, queueUrl, onEffect } = this.#parts;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const receive = {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: WAIT_SECONDS,
        VisibilityTimeout: VISIBILITY_SECONDS,
      };
      const { Messages = [] } = await record.asBench(() =>
        sqs.account.perform("ReceiveMessage", receive, { signal }),
      );
      for (const { Body = "", ReceiptHandle = "" } of Messages) {
        const jobId = jobIdIn(Body);
        if (jobId !== undefined) onEffect(jobId);
        await record.asBench(() =>
          sqs.account.perform("DeleteMessage", { QueueUrl: queueUrl, ReceiptHandle }),
        );
      }
    }
  }
}

/** A body that is no job has no effect. */
function jobIdIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { readonly job_id?: string }).job_id;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
