/** All queues of one account: found by URL, name and ARN, and woken when something changed. */

import type { Clock } from "@leasehold/clock";
import { AccountState } from "./account-state.ts";
import { missingParameter, SqsError } from "./errors.ts";
import type { AccountChange, QueueAttributes } from "./queue-change.ts";
import type { Queue, ReceiveRequest, Taken } from "./queue-model.ts";
import { WaitingReceives } from "./waiting-receives.ts";

/** What all queues of an account share. */
export interface QueuesOptions {
  readonly clock: Clock;
  readonly accountId: string;
  readonly region: string;
  readonly inFlightLimit: number;
  readonly newId: () => string;
  /** Told of all changes of one request at once, before its answer is given. */
  readonly keep: (changes: readonly AccountChange[]) => void;
}

/**
 * The queues. Time runs on one axis: the wall clock as it was at the start, moved on by the
 * monotonic clock, so that a stepped wall clock shortens no lease here and deadlines still mean
 * something after a restart.
 */
export class Queues {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly accountId: string;
  readonly state: AccountState;
  readonly #options: QueuesOptions;
  readonly #originMs: number;
  readonly #polls = new Map<Queue, WaitingReceives<unknown>>();
  readonly #changed = new Set<Queue>();
  #unkept: AccountChange[] = [];
  #isInTransaction = false;
  #isClosed = false;

  constructor(options: QueuesOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.newId = options.newId;
    this.accountId = options.accountId;
    this.#originMs = options.clock.wallMs() - options.clock.monotonicMs();
    this.state = new AccountState({
      inFlightLimit: options.inFlightLimit,
      senderId: options.accountId,
      newId: options.newId,
      nowMs: () => this.nowMs(),
      record: (change) => this.#record(change),
    });
  }

  /** The time on the account's axis. */
  nowMs(): number {
    return this.#originMs + this.clock.monotonicMs();
  }

  /** @throws SqsError QueueDoesNotExist */
  named(queueName: string | undefined): Queue {
    if (queueName === undefined) throw missingParameter("QueueName");
    const queue = this.state.byName(queueName);
    if (queue === undefined) throw queueDoesNotExist();
    return queue;
  }

  /** @throws SqsError QueueDoesNotExist, or InvalidAddress when no URL of a queue looks like this */
  at(queueUrl: string | undefined): Queue {
    if (queueUrl === undefined) throw missingParameter("QueueUrl");
    const [, accountId, queueName] = /([^/]+)\/([^/?#]+)\/?$/.exec(queueUrl) ?? [];
    if (accountId === undefined) {
      const reason = `The address ${queueUrl} is not valid for this endpoint.`;
      throw new SqsError("InvalidAddress", reason);
    }
    if (accountId !== this.accountId) throw queueDoesNotExist();
    return this.named(queueName);
  }

  create(queueName: string, attributes: QueueAttributes, tags: QueueAttributes): Queue {
    const identity = {
      queueId: this.newId(),
      queueName,
      arn: `arn:aws:sqs:${this.#options.region}:${this.accountId}:${queueName}`,
      isFifo: queueName.endsWith(".fifo"),
      createdAtMs: this.nowMs(),
    };
    this.commit({ kind: "queue-created", identity, attributes, tags });
    return this.named(queueName);
  }

  /** Applies a change to the account and has it kept. */
  commit(change: Exclude<AccountChange, { kind: "message" }>): void {
    this.transaction(() => {
      this.state.apply(change);
      this.#record(change);
    });
  }

  /** Removes a queue; polls that wait on it end with nothing. */
  remove(queue: Queue): void {
    this.commit({ kind: "queue-deleted", queueId: queue.identity.queueId });
    this.#polls.get(queue)?.endAll();
    this.#polls.delete(queue);
  }

  /**
   * Receives, and waits up to `waitMs` when there is nothing. `render` runs in the same instant in
   * which the messages are taken. A receive that only moved messages to the dead-letter queue comes
   * back empty at once, as SQS's may.
   *
   * @param poll - `hangUp` is given when the server is to notice that the client has gone
   */
  receive<Rendered>(
    queue: Queue,
    poll: {
      readonly request: ReceiveRequest;
      readonly waitMs: number;
      readonly hangUp?: AbortSignal | undefined;
    },
    render: (taken: Taken) => Rendered,
  ): Rendered | Promise<Rendered> {
    const attempt = () =>
      this.transaction(() => {
        const taken = queue.receive(poll.request);
        return taken.messages.length + taken.movedToDeadLetter > 0 ? render(taken) : undefined;
      });
    const found = attempt();
    if (found !== undefined) return found;
    const nothing = render({ messages: [], movedToDeadLetter: 0 });
    if (poll.waitMs === 0) return nothing;
    const answer = this.#pollsOf(queue).wait(attempt, poll.waitMs, nothing, poll.hangUp);
    this.#setAlarm(queue);
    return answer as Promise<Rendered>;
  }

  /** How many polls wait on a queue. */
  waitingPolls(queue: Queue): number {
    return this.#polls.get(queue)?.size ?? 0;
  }

  /** Nothing happens by itself any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends every waiting poll with nothing, as a server that stops does. */
  close(): void {
    this.#isClosed = true;
    for (const polls of this.#polls.values()) polls.endAll();
  }

  /** Runs `work`, then wakes the polls of every queue it changed, then has all changes kept. */
  transaction<T>(work: () => T): T {
    if (this.#isInTransaction) return work();
    this.#isInTransaction = true;
    try {
      return work();
    } finally {
      this.#wakePolls();
      this.#isInTransaction = false;
      const changes = this.#unkept;
      this.#unkept = [];
      if (changes.length > 0) this.#options.keep(changes);
    }
  }

  #record(change: AccountChange): void {
    this.#unkept.push(change);
    if (change.kind !== "message") return;
    const queue = this.state.byId(change.queueId);
    if (queue !== undefined && this.#polls.has(queue)) this.#changed.add(queue);
  }

  /** Serving changes the queue again; the set grows under the loop until nothing is left to find. */
  #wakePolls(): void {
    for (const queue of this.#changed) {
      this.#changed.delete(queue);
      this.#polls.get(queue)?.serve();
      this.#setAlarm(queue);
    }
  }

  #setAlarm(queue: Queue): void {
    const nextAtMs = queue.state.nextVisibleAtMs;
    const delayMs = nextAtMs === undefined ? undefined : Math.max(0, nextAtMs - this.nowMs());
    this.#polls.get(queue)?.setAlarm(delayMs, () =>
      this.transaction(() => {
        queue.settle();
        this.#changed.add(queue);
      }),
    );
  }

  #pollsOf(queue: Queue): WaitingReceives<unknown> {
    let polls = this.#polls.get(queue);
    if (polls === undefined) {
      polls = new WaitingReceives(this.clock);
      this.#polls.set(queue, polls);
    }
    return polls;
  }
}

function queueDoesNotExist(): SqsError {
  return new SqsError("QueueDoesNotExist", "The specified queue does not exist.");
}
