/** Tells when the queues are empty: nothing visible, in flight or delayed. */

import { GetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Clock } from "@leasehold/clock";
import type { LocalAws } from "@leasehold/local-aws";

/** Queues that can be asked how much is unfinished. */
export interface QueueWatch {
  /** Messages that are visible, in flight or delayed, in all queues together. */
  countUnfinished(): Promise<number>;
  /** Messages that anybody has sent since the watch began; `undefined` when nobody can tell. */
  countSent(): number | undefined;
  /** Resolves when it is worth asking again, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** How often in a row the answer must be nothing before it is believed. */
  readonly confirmations: number;
}

const LOOK_AGAIN_MS = 1_000;
const COUNTERS = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
] as const;

/** Resolves when everything is finished, or when the signal aborts. */
export async function untilIdle(watch: QueueWatch, signal: AbortSignal): Promise<void> {
  let confirmed = 0;
  while (!signal.aborted) {
    // Listening starts before asking: a change in between would be missed.
    const change = watch.changed(signal);
    confirmed = (await watch.countUnfinished()) === 0 ? confirmed + 1 : 0;
    if (confirmed >= watch.confirmations) return;
    await change;
  }
}

/** Rings when something has changed, for whoever waits at that moment. */
export class ChangeBell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next ring, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    return promise.finally(() => {
      this.#waiting.delete(wake);
      signal.removeEventListener("abort", wake);
    });
  }
}

type QueueReport = ReturnType<
  NonNullable<LocalAws["embedded"]>["account"]["report"]
>["queues"][string];

/** Queues in this process: exact, and asked only when a request may have changed something. */
export class EmbeddedWatch implements QueueWatch {
  readonly confirmations = 1;
  readonly #embedded: NonNullable<LocalAws["embedded"]>;
  readonly #queueNames: readonly string[];
  readonly #bell: ChangeBell;
  readonly #sentBefore: number;

  /** @param bell - rung by the owner of the queues at each request */
  constructor(
    embedded: NonNullable<LocalAws["embedded"]>,
    queueNames: readonly string[],
    bell: ChangeBell,
  ) {
    this.#embedded = embedded;
    this.#queueNames = queueNames;
    this.#bell = bell;
    this.#sentBefore = this.#sent();
  }

  async countUnfinished(): Promise<number> {
    return this.#sum(({ visible, inFlight, delayed }) => visible + inFlight + delayed);
  }

  countSent(): number {
    return this.#sent() - this.#sentBefore;
  }

  #sent(): number {
    return this.#sum(({ sent }) => sent);
  }

  #sum(count: (queue: QueueReport) => number): number {
    const { queues } = this.#embedded.account.report();
    return this.#queueNames
      .flatMap((name) => queues[name] ?? [])
      .reduce((sum, queue) => sum + count(queue), 0);
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#bell.next(signal);
  }
}

/** Queues elsewhere: SQS counts approximately, so it is asked more than once. */
export class EndpointWatch implements QueueWatch {
  readonly confirmations = 3;
  readonly #sqs: SQSClient;
  readonly #queueUrls: readonly string[];
  readonly #clock: Clock;

  constructor(sqs: SQSClient, queueUrls: readonly string[], clock: Clock) {
    this.#sqs = sqs;
    this.#queueUrls = queueUrls;
    this.#clock = clock;
  }

  async countUnfinished(): Promise<number> {
    const answers = await Promise.all(
      this.#queueUrls.map((url) =>
        this.#sqs.send(
          new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...COUNTERS] }),
        ),
      ),
    );
    return answers
      .flatMap(({ Attributes = {} }) => COUNTERS.map((name) => Number(Attributes[name] ?? 0)))
      .reduce((sum, value) => sum + value, 0);
  }

  countSent(): undefined {
    return undefined;
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(LOOK_AGAIN_MS, signal);
  }
}
