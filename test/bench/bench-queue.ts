/** One queue for one run of a bench: filled beforehand, and every request to it counted. */

import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { systemClock } from "@leasehold/clock";
import type { RequestAnswered } from "@leasehold/embedded-sqs";
import { type LocalAws, startLocalAws } from "@leasehold/local-aws";
import { createProducer } from "@leasehold/producer";

/** What was asked of SQS. */
export interface RequestCounts {
  readonly receives: number;
  readonly deletes: number;
  readonly changes: number;
}

/** A queue with jobs in it. */
export interface BenchQueue extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly aws: LocalAws;
  /** Counted by the server, from the moment the queue was filled. */
  counts(): RequestCounts;
  /** Resolves when the server has deleted this many messages. */
  deleted(jobs: number): Promise<void>;
}

/** Opens an embedded SQS of its own with `jobs` jobs in one standard queue. */
export async function fillQueue(jobs: number, visibilityTimeoutMs: number): Promise<BenchQueue> {
  const requests = new CountedRequests();
  const aws = await startLocalAws({
    mode: "embedded",
    onSqsRequest: (event) => requests.hear(event),
  });
  const attributes = { VisibilityTimeout: String(visibilityTimeoutMs / 1_000) };
  const name = "bench-jobs";
  const url = await createQueue(aws, name, attributes);
  await createQueue(aws, `${name}-dead`, {});
  const producer = createProducer({ client: aws.sqs, queueUrl: url, clock: systemClock });
  const all = Array.from({ length: jobs }, (_, n) => ({
    type: "bench.job",
    tenantId: `tenant-${n % 7}`,
    jobId: `job-${n}`,
    payload: { n },
  }));
  for (const result of await producer.sendMany(all)) if (result.kind !== "sent") throw result.error;
  requests.reset();
  return {
    name,
    url,
    aws,
    counts: () => requests.counts(),
    deleted: (wanted) => requests.deleted(wanted),
    [Symbol.asyncDispose]: () => aws.close(),
  };
}

async function createQueue(
  { sqs }: LocalAws,
  QueueName: string,
  Attributes: Record<string, string>,
): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

class CountedRequests {
  #counts = { receives: 0, deletes: 0, changes: 0 };
  #deletedMessages = 0;
  #waiter: { readonly wanted: number; readonly resolve: () => void } | undefined;

  hear(event: { readonly kind: string; readonly action: string } | RequestAnswered): void {
    if (event.kind !== "answered") return;
    const { action, entries } = event as RequestAnswered;
    if (action === "ReceiveMessage") this.#counts.receives += 1;
    if (action.startsWith("ChangeMessageVisibility")) this.#counts.changes += 1;
    if (!action.startsWith("DeleteMessage")) return;
    this.#counts.deletes += 1;
    this.#deletedMessages += entries.filter(({ outcome }) => outcome === "deleted").length;
    if (this.#waiter !== undefined && this.#deletedMessages >= this.#waiter.wanted)
      this.#waiter.resolve();
  }

  counts(): RequestCounts {
    return { ...this.#counts };
  }

  reset(): void {
    this.#counts = { receives: 0, deletes: 0, changes: 0 };
    this.#deletedMessages = 0;
  }

  deleted(wanted: number): Promise<void> {
    if (this.#deletedMessages >= wanted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiter = { wanted, resolve };
    });
  }
}
