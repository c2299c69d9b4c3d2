/** Long polls of one queue that wait, wake, and end with nothing. */

import type { CancelTimer, Clock } from "@leasehold/clock";

/** Tries to answer a poll now; `undefined` lets it wait on. */
export type Attempt<Answer> = () => Answer | undefined;

interface Poll<Answer> {
  readonly attempt: Attempt<Answer>;
  readonly nothing: Answer;
  readonly resolve: (answer: Answer) => void;
  readonly cancelTimer: CancelTimer;
}

/** Polls in the order in which they came; the first is served first. */
export class WaitingReceives<Answer> {
  readonly #clock: Clock;
  readonly #polls = new Set<Poll<Answer>>();
  #cancelAlarm: CancelTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#polls.size;
  }

  /**
   * Waits until `attempt` finds something, at most `waitMs`; tries once more before it gives up.
   * @param hangUp - ends the wait with nothing, when the server is to notice that a client has gone
   */
  wait(
    attempt: Attempt<Answer>,
    waitMs: number,
    nothing: Answer,
    hangUp?: AbortSignal,
  ): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const cancelTimer = this.#clock.schedule(waitMs, () => this.#end(poll, attempt() ?? nothing));
    const leave = () => this.#end(poll, nothing);
    const poll = { attempt, nothing, resolve, cancelTimer };
    this.#polls.add(poll);
    hangUp?.addEventListener("abort", leave, { once: true });
    if (hangUp?.aborted === true) leave();
    return promise;
  }

  /** Serves polls while there is something for them; they all would find the same nothing. */
  serve(): void {
    for (const poll of this.#polls) {
      const answer = poll.attempt();
      if (answer === undefined) return;
      this.#end(poll, answer);
    }
  }

  /** Calls `wake` in `delayMs`, when polls wait then; takes the place of an earlier alarm. */
  setAlarm(delayMs: number | undefined, wake: () => void): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
    if (delayMs === undefined || this.#polls.size === 0) return;
    this.#cancelAlarm = this.#clock.schedule(delayMs, wake);
  }

  /** Ends every poll with nothing. */
  endAll(): void {
    for (const poll of this.#polls) this.#end(poll, poll.nothing);
  }

  #end(poll: Poll<Answer>, answer: Answer): void {
    if (!this.#polls.delete(poll)) return;
    poll.cancelTimer();
    if (this.#polls.size === 0) this.setAlarm(undefined, () => {});
    poll.resolve(answer);
  }
}
