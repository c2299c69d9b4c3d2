/** SQS for one account, without HTTP: every action, under a clock that tests can own. */

import type { Clock } from "@leasehold/clock";
import { ACTIONS, type ActionInput, type ActionName, type ActionOutput } from "./actions.ts";
import { SqsError } from "./errors.ts";
import type { ActionContext } from "./message-actions.ts";
import { runMoveTask } from "./move-tasks.ts";
import { type AccountOptions, resolveAccountOptions } from "./options.ts";
import type { MessageCounts } from "./queue-state.ts";
import type { QueueStatistics } from "./queue-statistics.ts";
import { Queues } from "./queues.ts";
import type { RequestBegun, RequestEntry, RequestObserver } from "./request-log.ts";
import { StateFolder } from "./state-folder.ts";

/** What one request brings besides its input. */
export interface RequestOptions {
  /**
   * Aborts when the client hangs up: the promise rejects with its reason, but a poll that waits goes
   * on and what it takes is lost on the way, as with SQS (see `AccountOptions.noticesHangUps`).
   */
  readonly signal?: AbortSignal;
  /** Where queue URLs in the answer begin, when it is not where they usually do. */
  readonly endpoint?: string;
}

/** The statistics of one queue, and how many messages stand where now. */
export interface QueueReport extends Readonly<QueueStatistics>, MessageCounts {
  /** Long polls that wait now. */
  readonly waitingPolls: number;
}

/** What an account counts. */
export interface AccountReport {
  readonly queues: Readonly<Record<string, QueueReport>>;
  /** Requests by action, since this account was opened. */
  readonly requests: Readonly<Record<string, number>>;
}

/**
 * The queues of one account. Every action happens in the moment of its call; only a long poll is
 * answered later. With a folder, what an action changed is written before its answer is given.
 */
export class SqsAccount {
  readonly #queues: Queues;
  readonly #folder: StateFolder | undefined;
  readonly #endpoint: string;
  readonly #noticesHangUps: boolean;
  readonly #observe: RequestObserver;
  readonly #requests = new Map<string, number>();
  #requestNumber = 0;

  /** @throws DamagedStateError when the folder cannot be read */
  constructor(clock: Clock, options: AccountOptions = {}) {
    const resolved = resolveAccountOptions(options);
    this.#endpoint = resolved.endpoint;
    this.#noticesHangUps = resolved.noticesHangUps;
    this.#observe = resolved.onRequest;
    this.#folder = resolved.folder === undefined ? undefined : new StateFolder(resolved.folder);
    this.#queues = new Queues({
      ...resolved,
      clock,
      keep: (changes) => this.#folder?.append(changes, this.#queues.state),
    });
    this.#folder?.open(this.#queues.state);
    for (const { taskId, status } of this.#queues.state.tasks()) {
      if (status === "RUNNING") runMoveTask(taskId, this.#queues);
    }
  }

  /**
   * Performs an action.
   * @throws SqsError when SQS would refuse it
   */
  async perform<Name extends ActionName>(
    action: Name,
    input: ActionInput<Name>,
    options: RequestOptions = {},
  ): Promise<ActionOutput<Name>> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#queues.isClosed) {
      throw new SqsError("ServiceUnavailable", "This endpoint is stopping.");
    }
    const entries: RequestEntry[] = [];
    const context: ActionContext = {
      queues: this.#queues,
      endpoint: options.endpoint ?? this.#endpoint,
      hangUp: this.#noticesHangUps ? signal : undefined,
      note: (entry) => entries.push(entry),
    };
    const begun = this.#begin(action, input);
    const answer = this.#answer(action, input, context, begun, entries, signal);
    return signal === undefined ? answer : orHangUp(answer, signal);
  }

  /** What is counted, exactly and as of now. */
  report(): AccountReport {
    const queues = this.#queues.state.queues().map((queue) => {
      this.#queues.transaction(() => queue.settle());
      const { statistics, counts } = queue.state;
      const waitingPolls = this.#queues.waitingPolls(queue);
      return [queue.identity.queueName, { ...statistics, ...counts, waitingPolls }] as const;
    });
    return { queues: Object.fromEntries(queues), requests: Object.fromEntries(this.#requests) };
  }

  /**
   * Ends open polls with nothing, refuses every later request (503), and closes the folder: what
   * was answered is written, what comes too late is not answered. May be called twice.
   */
  close(): void {
    this.#queues.close();
    this.#folder?.close();
  }

  #begin(action: ActionName, input: object): RequestBegun {
    this.#requestNumber += 1;
    this.#requests.set(action, (this.#requests.get(action) ?? 0) + 1);
    const { QueueUrl, QueueName } = input as { QueueUrl?: string; QueueName?: string };
    const begun: RequestBegun = {
      kind: "begun",
      requestNumber: this.#requestNumber,
      action,
      queueName: QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf("/") + 1),
      startedAtMs: this.#queues.clock.wallMs(),
    };
    this.#observe(begun);
    return begun;
  }

  async #answer<Name extends ActionName>(
    action: Name,
    input: ActionInput<Name>,
    context: ActionContext,
    begun: RequestBegun,
    entries: readonly RequestEntry[],
    signal: AbortSignal | undefined,
  ): Promise<ActionOutput<Name>> {
    const run = ACTIONS[action] as (input: object, context: ActionContext) => object;
    let result = "InternalFailure";
    try {
      const output = await this.#queues.transaction(() => run(input, context));
      result = "ok";
      return output as ActionOutput<Name>;
    } catch (error) {
      if (error instanceof SqsError) result = error.errorName;
      throw error;
    } finally {
      const endedAtMs = this.#queues.clock.wallMs();
      const isClientGone = signal?.aborted === true;
      this.#observe({ ...begun, kind: "answered", endedAtMs, result, entries, isClientGone });
    }
  }
}

/** The answer, or the end of the client's patience; the request itself goes on. */
function orHangUp<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const hangUp = () => reject(signal.reason);
  signal.addEventListener("abort", hangUp, { once: true });
  answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", hangUp));
  return promise;
}
