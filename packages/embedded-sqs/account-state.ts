/** Everything an account holds, changed only by changes: live, from a journal, or from a snapshot. */

import type { AccountChange, MoveTask } from "./queue-change.ts";
import { Queue, type QueueSurroundings } from "./queue-model.ts";

/** Queues and move tasks. Applying the same changes in the same order gives the same state. */
export class AccountState {
  readonly #surroundings: QueueSurroundings;
  readonly #byId = new Map<string, Queue>();
  readonly #byName = new Map<string, Queue>();
  readonly #byArn = new Map<string, Queue>();
  readonly #tasks = new Map<string, MoveTask>();
  #order = 0;

  constructor(surroundings: Omit<QueueSurroundings, "nextOrder" | "queueByArn">) {
    this.#surroundings = {
      ...surroundings,
      nextOrder: () => this.nextOrder(),
      queueByArn: (arn) => this.byArn(arn),
    };
  }

  queues(): Queue[] {
    return [...this.#byId.values()];
  }

  byId(queueId: string): Queue | undefined {
    return this.#byId.get(queueId);
  }

  byName(queueName: string): Queue | undefined {
    return this.#byName.get(queueName);
  }

  byArn(arn: string): Queue | undefined {
    return this.#byArn.get(arn);
  }

  /** The next place in the order of all messages. */
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /** Move tasks in the order in which they were started. */
  tasks(): MoveTask[] {
    return [...this.#tasks.values()];
  }

  task(taskId: string): MoveTask | undefined {
    return this.#tasks.get(taskId);
  }

  apply(change: AccountChange): void {
    switch (change.kind) {
      case "queue-created":
        this.#add(new Queue(change.identity, change.attributes, this.#surroundings), change.tags);
        break;
      case "queue-set":
        this.#set(change);
        break;
      case "queue-purged":
        this.#byId.get(change.queueId)?.purge(change.atMs);
        break;
      case "queue-deleted":
        this.#remove(change.queueId);
        break;
      case "message":
        if (change.change.kind === "arrived") this.#follow(change.change.message.order);
        this.#byId.get(change.queueId)?.apply(change.change);
        break;
      case "move-task":
        this.#tasks.set(change.task.taskId, change.task);
        break;
      case "queue-restored":
        this.#restore(change);
        break;
      case "message-restored":
        this.#byId.get(change.queueId)?.state.restore(change.message);
        break;
      case "order-restored":
        this.#follow(change.order);
        break;
    }
  }

  /** Changes that make an empty account equal to this one. */
  *snapshot(): Iterable<AccountChange> {
    yield { kind: "order-restored", order: this.#order };
    for (const queue of this.#byId.values()) {
      const { identity, attributes, tags, modifiedAtMs, purgedAtMs, state } = queue;
      yield {
        kind: "queue-restored",
        identity,
        attributes,
        tags,
        modifiedAtMs,
        ...(purgedAtMs === undefined ? {} : { purgedAtMs }),
        statistics: state.statistics,
        remembered: [...state.deduplication.remembered()],
      };
      for (const message of state.messages()) {
        yield { kind: "message-restored", queueId: identity.queueId, message };
      }
    }
    for (const task of this.#tasks.values()) yield { kind: "move-task", task };
  }

  #add(queue: Queue, tags: Readonly<Record<string, string>>): void {
    queue.tags = tags;
    this.#byId.set(queue.identity.queueId, queue);
    this.#byName.set(queue.identity.queueName, queue);
    this.#byArn.set(queue.identity.arn, queue);
  }

  #set(change: Extract<AccountChange, { kind: "queue-set" }>): void {
    const queue = this.#byId.get(change.queueId);
    if (queue === undefined) return;
    queue.attributes = change.attributes;
    queue.tags = change.tags;
    queue.modifiedAtMs = change.atMs;
  }

  #remove(queueId: string): void {
    const queue = this.#byId.get(queueId);
    if (queue === undefined) return;
    this.#byId.delete(queueId);
    this.#byName.delete(queue.identity.queueName);
    this.#byArn.delete(queue.identity.arn);
  }

  #restore(change: Extract<AccountChange, { kind: "queue-restored" }>): void {
    const queue = new Queue(change.identity, change.attributes, this.#surroundings);
    queue.modifiedAtMs = change.modifiedAtMs;
    queue.purgedAtMs = change.purgedAtMs;
    Object.assign(queue.state.statistics, change.statistics);
    for (const send of change.remembered) queue.state.deduplication.remember(send);
    this.#add(queue, change.tags);
  }

  #follow(order: number): void {
    this.#order = Math.max(this.#order, order);
  }
}
