/** The hard timeout of one call of the SDK: ends what is out, and lets nothing leave after it. */

import type { Clock } from "@leasehold/clock";

/** The request was not sent: its time was over before it could leave. */
export class TooLateToSendError extends Error {
  override readonly name = "TooLateToSendError";
  readonly code = "TOO_LATE_TO_SEND";
}

/**
 * One for each call.
 *
 * The SDK's own timeout begins only when a socket is asked for. Credentials and signing come before
 * that, and a blocked event loop may hold a request back and let it go when its lease is long over.
 * So this one begins with the call, and is asked once more right before the request leaves.
 */
export class CallDeadline {
  /** How the command's middleware stack is to take `stopLate`: nearest to the wire. */
  static readonly nearTheWire = { step: "deserialize", priority: "low" } as const;

  readonly #clock: Clock;
  readonly #deadlineAtMs: number;
  readonly #over = new AbortController();
  readonly #isOver: Promise<never>;
  readonly #end: (reason: unknown) => void;
  readonly #stop: () => void;

  /** @param signal - ends the call earlier */
  constructor(clock: Clock, timeoutMs: number, signal?: AbortSignal) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined); // Nobody may be waiting when it rejects.
    this.#clock = clock;
    this.#deadlineAtMs = clock.monotonicMs() + timeoutMs;
    this.#isOver = promise;
    this.#end = (reason) => {
      this.#over.abort(reason);
      reject(reason);
    };
    const cancelTimer = clock.schedule(timeoutMs, () => this.#end(overdue(timeoutMs)));
    const abort = () => this.#end(new DOMException("the call was aborted", "AbortError"));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
    this.#stop = () => {
      cancelTimer();
      signal?.removeEventListener("abort", abort);
    };
  }

  /** For the SDK: aborts at the deadline. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** A middleware that refuses to send what is late. */
  readonly stopLate =
    <Args, Result>(next: (args: Args) => Promise<Result>) =>
    async (args: Args): Promise<Result> => {
      const isLate = this.#clock.monotonicMs() >= this.#deadlineAtMs || this.signal.aborted;
      if (isLate) throw new TooLateToSendError("the call's time was over before it was sent");
      return next(args);
    };

  /** The call's answer, or a rejection at the deadline, whatever the SDK still waits for. */
  async race<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await Promise.race([answer, this.#isOver]);
    } finally {
      this.#stop();
    }
  }
}

function overdue(timeoutMs: number): Error {
  return new DOMException(`no answer within ${timeoutMs} ms`, "TimeoutError");
}
