/** The server's record of one trial, and what it says of the worker under trial. Pure but for waiting. */

import type { RequestAnswered, RequestBegun, RequestEntry } from "@leasehold/embedded-sqs";

/** An effect that was done, in order. */
export interface Effect {
  readonly jobId: string;
  readonly by: "worker" | "successor";
}

/** What a trial came to. */
export interface TrialFigures {
  /** Jobs whose effect the worker did, each counted once. */
  readonly handled: number;
  /** Effects beyond the first, whoever did them. */
  readonly duplicated: number;
  /** Messages that were hidden from everybody when the worker had gone, be it for a retry's delay. */
  readonly stranded: number;
  /** For how long, the longest of them. */
  readonly hidden_ms: number;
  /** Messages that the worker made visible at once. */
  readonly released: number;
  /** Messages that it deleted although their effect was never done; a dead-letter copy is no loss. */
  readonly lost: number;
  /** Effects that came before the effect of an earlier job of their FIFO group. */
  readonly out_of_order: number;
  /** Receives, deletes, changes of visibility and dead-letter sends. */
  readonly calls: number;
}

/** A request, and who asked. */
export interface TrialRequest extends RequestAnswered {
  readonly by: "worker" | "bench";
}

/** All that the figures are read from. */
export interface TrialFacts {
  /** In order of the answers. */
  readonly requests: readonly TrialRequest[];
  readonly effects: readonly Effect[];
  /** Job of each message, in the order of sending; a message that is no job has none. */
  readonly jobOf: ReadonlyMap<string, string | undefined>;
  readonly exitedAtMs: number;
  readonly visibilityTimeoutMs: number;
  readonly isFifo: boolean;
  readonly deadLetterQueue: string;
}

const COUNTED = /^(?:ReceiveMessage|DeleteMessage|ChangeMessageVisibility)/;

/** Reads the figures; nothing in them depends on how fast this machine is. */
export function readFigures(facts: TrialFacts): TrialFigures {
  const { requests, effects, exitedAtMs, isFifo } = facts;
  const own = requests.filter(({ by }) => by === "worker");
  const entries = own.flatMap((request) => request.entries);
  const deadLetters = own.filter((request) => isDeadLetter(request, facts)).length;
  const hiddenMs = hiddenAtExit(facts);
  const done = new Set(effects.map(({ jobId }) => jobId));
  const deletedUndone = entries.filter(({ messageId = "", outcome }) => {
    const jobId = facts.jobOf.get(messageId);
    return outcome === "deleted" && !(jobId !== undefined && done.has(jobId));
  }).length;
  const byWorker = effects.filter(({ by }) => by === "worker");
  const beforeExit = own.filter(({ endedAtMs }) => endedAtMs <= exitedAtMs);
  return {
    handled: new Set(byWorker.map(({ jobId }) => jobId)).size,
    duplicated: effects.length - done.size,
    stranded: hiddenMs.length,
    hidden_ms: Math.round(Math.max(0, ...hiddenMs)),
    released: beforeExit.flatMap((request) => request.entries).filter(isRelease).length,
    lost: Math.max(0, deletedUndone - deadLetters),
    out_of_order: isFifo ? outOfOrder(facts) : 0,
    calls: own.filter((request) => COUNTED.test(request.action)).length + deadLetters,
  };
}

/** One message that the worker received. */
interface Hiding {
  /** From when it counts: the worker's exit, or later when its dead socket took the message. */
  fromMs: number;
  untilMs: number;
  /** The successor has it: what a late request of the worker does no longer hides it from all. */
  isTaken: boolean;
}

/** How long each message that the worker hid stays hidden once it has gone. */
function hiddenAtExit({
  requests,
  exitedAtMs,
  visibilityTimeoutMs,
}: TrialFacts): readonly number[] {
  const hidings = new Map<string, Hiding>();
  for (const { by, endedAtMs: atMs, entries } of requests) {
    for (const { messageId = "", outcome, visibilityTimeoutSeconds = 0 } of entries) {
      const hiding = hidings.get(messageId);
      const fromMs = Math.max(exitedAtMs, atMs);
      if (outcome === "received" && by === "worker") {
        hidings.set(messageId, { fromMs, untilMs: atMs + visibilityTimeoutMs, isTaken: false });
      } else if (hiding !== undefined && !hiding.isTaken) {
        if (outcome === "deleted") hidings.delete(messageId);
        if (outcome === "changed") {
          hidings.set(messageId, {
            fromMs,
            untilMs: atMs + visibilityTimeoutSeconds * 1_000,
            isTaken: false,
          });
        }
        if (outcome === "received") {
          hiding.untilMs = Math.min(hiding.untilMs, atMs);
          hiding.isTaken = true;
        }
      }
    }
  }
  return [...hidings.values()]
    .map(({ fromMs, untilMs }) => untilMs - fromMs)
    .filter((durationMs) => durationMs > 0);
}

function isRelease({ outcome, visibilityTimeoutSeconds }: RequestEntry): boolean {
  return outcome === "changed" && visibilityTimeoutSeconds === 0;
}

function isDeadLetter(
  { action, queueName }: RequestAnswered,
  { deadLetterQueue }: TrialFacts,
): boolean {
  return action.startsWith("SendMessage") && queueName === deadLetterQueue;
}

function outOfOrder({ effects, jobOf }: TrialFacts): number {
  const order = [...jobOf.values()];
  const first = [...new Set(effects.map(({ jobId }) => jobId))].map((jobId) =>
    order.indexOf(jobId),
  );
  return first.filter((place, index) => first.slice(index + 1).some((later) => later < place))
    .length;
}

/** Hears every request and tells the worker's from the bench's own. */
export class TrialRecord {
  readonly #answered: RequestAnswered[] = [];
  readonly #own = new Set<number>();
  readonly #waiters = new Set<() => void>();
  #isOwn = false;
  #pollsBegun = 0;

  hear(event: RequestBegun | RequestAnswered): void {
    if (event.kind === "begun" && this.#isOwn) this.#own.add(event.requestNumber);
    else if (event.kind === "begun" && event.action === "ReceiveMessage") this.#pollsBegun += 1;
    if (event.kind === "answered") this.#answered.push(event);
    for (const look of [...this.#waiters]) look();
  }

  /** Makes a request of the bench: it begins within the call, before anything else can. */
  asBench<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#isOwn = true;
    try {
      return ask();
    } finally {
      this.#isOwn = false;
    }
  }

  /** Everything so far, in order of the answers. */
  get requests(): readonly TrialRequest[] {
    return this.#answered.map((request) => ({
      ...request,
      by: this.#own.has(request.requestNumber) ? "bench" : "worker",
    }));
  }

  /** Polls that the worker has begun, whether they have ended or not. */
  get pollsBegun(): number {
    return this.#pollsBegun;
  }

  /** How often the worker received the message, and with which handle the last time. */
  receivesOf(messageId: string): readonly string[] {
    return this.requests
      .filter(({ by }) => by === "worker")
      .flatMap(({ entries }) => entries)
      .filter((entry) => entry.messageId === messageId && entry.outcome === "received")
      .map(({ receiptHandle = "" }) => receiptHandle);
  }

  /** Resolves as soon as `isThere`, looked at after every request, at the latest after `limitMs`. */
  until(isThere: () => boolean, limitMs: number): Promise<boolean> {
    if (isThere()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (answer: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve(answer);
      };
      // The observer hears of a request just before its effect can be counted.
      const look = () => setImmediate(() => isThere() && end(true));
      const timer = setTimeout(() => end(isThere()), limitMs);
      this.#waiters.add(look);
    });
  }
}
