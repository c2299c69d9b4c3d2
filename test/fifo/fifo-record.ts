/** What the server and the workers said of one history, and what of it must never be. */

import type { Receipt } from "@leasehold/lease";
import type { WorkerEvent } from "@leasehold/worker";

/** Something that the histories must reach, or they prove nothing. */
export type Kind =
  | "failure in place"
  | "long retry"
  | "tail sent back"
  | "released by a drain"
  | "wait ended by a drain"
  | "lost"
  | "worked by both workers"
  | "dead-lettered by us"
  | "dead-lettered by SQS"
  | "malformed"
  | "waiting for its turn"
  | "delete asked twice";

/** Every kind. */
export const KINDS: readonly Kind[] = [
  "failure in place",
  "long retry",
  "tail sent back",
  "released by a drain",
  "wait ended by a drain",
  "lost",
  "worked by both workers",
  "dead-lettered by us",
  "dead-lettered by SQS",
  "malformed",
  "waiting for its turn",
  "delete asked twice",
];

/** The record of one history. */
export class FifoRecord {
  /** In order. */
  readonly sent: { readonly messageId: string; readonly groupId: string }[] = [];
  readonly reached: Set<Kind> = new Set<Kind>();
  /** What must not have been, in words. */
  readonly faults: string[] = [];
  readonly #peek: () => Promise<readonly Receipt[]>;
  readonly #handles = new Map<string, string>();
  readonly #gone = new Set<string>();
  readonly #movedBySqs = new Set<string>();
  /** By message: the worker and the receive of each start. */
  readonly #starts = new Map<string, string[]>();
  readonly #turnedAway = new Set<string>();
  readonly #isDraining = [false, false];
  #looks: Promise<unknown> = Promise.resolve();

  /** @param peek - looks at the dead letters and leaves them there */
  constructor(peek: () => Promise<readonly Receipt[]>) {
    this.#peek = peek;
  }

  /** SQS has handed out a message. */
  received(messageId: string, receiptHandle: string): void {
    this.#handles.set(messageId, receiptHandle);
  }

  /** The newest handle of the first message that has been handed out and is there. */
  get firstHeld(): string | undefined {
    const there = this.sent.filter(({ messageId }) => !this.#gone.has(messageId));
    return there.map(({ messageId }) => this.#handles.get(messageId)).find(Boolean);
  }

  /** SQS has taken a message away. */
  deleted(messageId: string): void {
    this.#gone.add(messageId);
  }

  /** A receive may have moved messages to the dead-letter queue. */
  look(): void {
    const look = this.#peek().then((receipts) => {
      for (const { message } of receipts) this.#moved(message.messageId);
    });
    this.#looks = Promise.all([this.#looks, look]);
  }

  /** Resolves when all that was looked at is known. */
  async settled(): Promise<void> {
    await this.#looks;
  }

  hear(worker: 0 | 1, event: WorkerEvent): void {
    if (event.kind === "job.started") this.#started(worker, event.lease);
    if (event.kind === "lease.claimed" && this.#beforeIt(event.lease.messageId).length > 0) {
      this.reached.add("waiting for its turn");
    }
    if (event.kind === "job.malformed") {
      this.#mayBeWorked(event.lease.messageId);
      this.#turnedAway.add(event.lease.messageId);
      this.reached.add("malformed");
    }
    if (event.kind === "drain.started") this.#isDraining[worker] = true;
    if (event.kind === "worker.ready") this.#isDraining[worker] = false;
    for (const kind of kindsOf(event, this.#isDraining[worker] === true)) this.reached.add(kind);
  }

  /** @param left - messages that are still in the queue although it had time */
  close(left: number): void {
    if (left > 0) this.faults.push(`${left} messages were never settled`);
    for (const messageId of this.#movedBySqs) {
      const wasWorked = this.#starts.has(messageId) || this.#turnedAway.has(messageId);
      if (!wasWorked) this.faults.push(`${this.#name(messageId)} was dead-lettered with 0 starts`);
    }
  }

  #started(worker: 0 | 1, lease: { readonly messageId: string; readonly receiveCount: number }) {
    const { messageId, receiveCount } = lease;
    const before = this.#starts.get(messageId) ?? [];
    const start = `${worker} ${receiveCount}`;
    if (before.includes(start)) this.reached.add("failure in place");
    if (before.some((each) => !each.startsWith(`${worker}`))) {
      this.reached.add("worked by both workers");
    }
    this.#starts.set(messageId, [...before, start]);
    this.#mayBeWorked(messageId);
  }

  /** All before it in its group must be gone now. */
  #mayBeWorked(messageId: string): void {
    const there = this.#beforeIt(messageId);
    if (there.length === 0) return;
    // What SQS itself has moved is told by the looks that have begun by now.
    this.#looks = this.#looks.then(() => {
      for (const each of there.filter((one) => !this.#movedBySqs.has(one.messageId))) {
        this.faults.push(`${this.#name(messageId)} before ${this.#name(each.messageId)} was gone`);
      }
    });
  }

  /** What comes before it in its group and is not known to be gone. */
  #beforeIt(messageId: string) {
    const index = this.sent.findIndex((each) => each.messageId === messageId);
    const groupId = this.sent[index]?.groupId;
    const before = this.sent.slice(0, index).filter((each) => each.groupId === groupId);
    return before.filter(
      (each) => !this.#gone.has(each.messageId) && !this.#movedBySqs.has(each.messageId),
    );
  }

  #moved(messageId: string): void {
    if (!this.sent.some((each) => each.messageId === messageId)) return;
    this.#movedBySqs.add(messageId);
    this.reached.add("dead-lettered by SQS");
  }

  #name(messageId: string): string {
    const index = this.sent.findIndex((each) => each.messageId === messageId);
    return `message ${index} of group ${this.sent[index]?.groupId}`;
  }
}

function kindsOf(event: WorkerEvent, isDraining: boolean): readonly Kind[] {
  switch (event.kind) {
    case "lease.retried":
      return isDraining ? ["wait ended by a drain"] : event.delayMs > 50_000 ? ["long retry"] : [];
    case "lease.released":
      if (isDraining) return ["released by a drain"];
      return event.class === "unstarted" ? ["tail sent back"] : [];
    case "lease.lost":
      return ["lost"];
    case "lease.dead-lettered":
      return ["dead-lettered by us"];
    case "lease.settle-failed":
      return ["delete asked twice"];
    default:
      return [];
  }
}
