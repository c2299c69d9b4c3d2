/** The extender in its own thread, so that a handler which blocks the event loop keeps its lease. */

import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type CancelTimer, type Clock, systemClock } from "@leasehold/clock";
import type { Extender } from "./extender.ts";
import type { FromExtender, ToExtender } from "./extender-post.ts";
import type { HeldLease } from "./held-lease.ts";
import type { LeaseExtenderParts } from "./lease-extender.ts";
import { newPulse, SharedPulse } from "./shared-pulse.ts";
import { SlotPool } from "./slot-pool.ts";
import type { SqsClientOptions } from "./sqs-clients.ts";
import { assertSendable, type ThreadConnection } from "./thread-connection.ts";
import { ThreadExtender, type ThreadFailure } from "./thread-extender.ts";

/** How an extender's thread is started. */
export interface ExtenderThreadParts {
  readonly connection: ThreadConnection;
  readonly clients?: SqsClientOptions;
  /**
   * How long a handler may block the event loop before its leases are extended no more. Less than a
   * second counts as a second: so much a busy moment takes.
   */
  readonly maxBlockedMs: number;
}

/** One thread that extends the leases of all queues of a worker. */
export interface ExtenderThread {
  /** Resolves once it works, or has failed: leases are then extended in this thread. */
  readonly started: Promise<void>;
  /** @internal The extender of one more queue; what it cannot do any more, `parts` do. */
  extenderFor(queueUrl: () => string | undefined, parts: LeaseExtenderParts<HeldLease>): Extender;
  /** Ends the thread; only when no lease is held any more. */
  close(): void;
}

/** What the thread is told as it starts. */
export interface ThreadData {
  readonly connection: ThreadConnection;
  readonly clients: SqsClientOptions;
  readonly maxBlockedMs: number;
  readonly pulse: SharedArrayBuffer;
}

/** The way to the thread and back. */
export interface ThreadLine {
  readonly post: (message: ToExtender) => void;
  /** Ends the thread. */
  readonly close: () => void;
}

/** What is heard from the other end of a line. */
export interface ThreadListener {
  readonly onMessage: (message: FromExtender) => void;
  readonly onFailure: (failure: ThreadFailure) => void;
}

/** What the near end is made of; `connect` starts the far end. */
export interface NearEndParts {
  readonly clock: Clock;
  readonly pulse: SharedArrayBuffer;
  readonly maxBlockedMs: number;
  readonly connect: (listener: ThreadListener) => ThreadLine;
}

const THREAD_FILE = `./extender-thread-entry${extname(import.meta.filename)}`;
const BEAT_MS = 250;
/** Later than this a beat was held up by more than a busy moment. */
const BLOCKED_AFTER_MS = 1_500;
/** Loading the SDK takes a second on a busy machine. */
const START_TIMEOUT_MS = 15_000;
/** The thread has nothing to do that could hold it up for so long. */
const SILENT_AFTER_MS = 3_000;

/**
 * Starts the thread. It has its own client and its own chain of credentials, and makes every
 * extension and taper itself; the only clock it can share is the system's.
 *
 * A thread that cannot start, ends or falls silent is reported as `lease.extender-failed`, once for
 * each queue, and this thread extends from then on. It keeps no process alive.
 *
 * @throws InvalidOptionsError when the connection holds what no thread can be sent
 */
export function startExtenderThread(parts: ExtenderThreadParts): ExtenderThread {
  const { connection, clients = {}, maxBlockedMs } = parts;
  assertSendable(connection);
  const pulse = newPulse();
  const workerData: ThreadData = {
    ...{ connection, clients, pulse },
    maxBlockedMs: Math.max(maxBlockedMs, 1_000),
  };
  const { clock, connect } = { clock: systemClock, connect: connectTo(workerData) };
  return new NearEnd({ clock, pulse, maxBlockedMs: workerData.maxBlockedMs, connect });
}

function connectTo(workerData: ThreadData): (listener: ThreadListener) => ThreadLine {
  return ({ onMessage, onFailure }) => {
    const url = new URL(THREAD_FILE, import.meta.url);
    const thread = new Worker(url, { workerData, name: "lease extender" });
    thread.on("message", onMessage);
    thread.unref(); // After that listener, which would hold the process again.
    thread.on("error", (error) => onFailure({ code: "ThreadCrashed", message: wordsOf(error) }));
    thread.on("exit", (code) =>
      onFailure({ code: "ThreadEnded", message: `the thread ended with code ${code}` }),
    );
    return {
      post: (message) => thread.postMessage(message),
      close: () => void thread.terminate(),
    };
  };
}

/** The end of the line that the main thread holds. */
export class NearEnd implements ExtenderThread {
  readonly started: Promise<void>;
  readonly #clock: Clock;
  readonly #pulse: SharedPulse;
  readonly #maxBlockedMs: number;
  readonly #line: ThreadLine;
  readonly #slots: SlotPool;
  readonly #queues = new Map<number, ThreadExtender>();
  readonly #startedAtMs: number;
  readonly #begun = Promise.withResolvers<void>();
  #lastQueue = 0;
  #isReady = false;
  #isClosed = false;
  /** Why the thread does not work any more. */
  #failure: ThreadFailure | undefined;
  #cancelBeat: CancelTimer = () => {};

  constructor({ clock, pulse, maxBlockedMs, connect }: NearEndParts) {
    this.started = this.#begun.promise;
    this.#clock = clock;
    this.#maxBlockedMs = maxBlockedMs;
    this.#startedAtMs = clock.monotonicMs();
    this.#pulse = new SharedPulse(pulse, clock);
    this.#pulse.beat("main");
    this.#line = connect({
      onMessage: (message) => this.#hear(message),
      onFailure: (failure) => this.#fail(failure),
    });
    this.#slots = new SlotPool((page) => this.#line.post({ kind: "page", page }));
    this.#cancelBeat = clock.schedule(BEAT_MS, () => this.#beat());
  }

  /** Places in shared memory, lent or not. */
  get slots(): number {
    return this.#slots.places;
  }

  /** Those that are lent to leases now. */
  get lentSlots(): number {
    return this.#slots.lent;
  }

  extenderFor(queueUrl: () => string | undefined, parts: LeaseExtenderParts<HeldLease>): Extender {
    this.#lastQueue += 1;
    const queue = this.#lastQueue;
    const extender = new ThreadExtender({
      ...parts,
      ...{ queue, queueUrl, slots: this.#slots },
      post: (message) => this.#line.post(message),
      onClose: () => void this.#queues.delete(queue),
    });
    this.#queues.set(queue, extender);
    if (this.#failure !== undefined) extender.standIn(this.#failure);
    return extender;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelBeat();
    this.#line.close();
  }

  #hear(message: FromExtender): void {
    if (this.#failure !== undefined || this.#isClosed) return;
    if (message.kind !== "ready") return void this.#queues.get(message.queue)?.hear(message);
    this.#isReady = true;
    this.#begun.resolve();
  }

  #fail(failure: ThreadFailure): void {
    if (this.#failure !== undefined || this.#isClosed) return;
    this.#failure = failure;
    this.#cancelBeat();
    for (const extender of this.#queues.values()) extender.standIn(failure);
    this.#line.close();
    this.#begun.resolve();
  }

  /** Shows the thread that this one turns, and looks whether the thread does. */
  #beat(): void {
    const blockedMs = this.#pulse.silentMs("main");
    this.#pulse.beat("main");
    this.#cancelBeat = this.#clock.schedule(BEAT_MS, () => this.#beat());
    if (blockedMs > BLOCKED_AFTER_MS) return void this.#unblocked(blockedMs);
    const failure = this.#isReady ? this.#silence() : this.#slowStart();
    if (failure !== undefined) this.#fail(failure);
  }

  #unblocked(blockedMs: number): void {
    const paused = blockedMs > this.#maxBlockedMs;
    this.#line.post({ kind: "wake" });
    for (const extender of this.#queues.values()) {
      extender.unblocked(Math.round(blockedMs), paused);
    }
  }

  /** Not asked right after a block: the whole process may have stood still. */
  #silence(): ThreadFailure | undefined {
    const silentMs = this.#pulse.silentMs("extender");
    if (silentMs <= SILENT_AFTER_MS) return undefined;
    const message = `the thread has not shown itself for ${Math.round(silentMs)} ms`;
    return { code: "ThreadSilent", message };
  }

  #slowStart(): ThreadFailure | undefined {
    const startingMs = this.#clock.monotonicMs() - this.#startedAtMs;
    const isPressing = [...this.#queues.values()].some(({ isPressed }) => isPressed);
    if (startingMs <= START_TIMEOUT_MS && !isPressing) return undefined;
    const message = `the thread has not started within ${Math.round(startingMs)} ms`;
    return { code: "ThreadNotStarted", message };
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
