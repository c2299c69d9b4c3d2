/** Notices when the claims of a queue are stuck. */

/** What is looked at, now and then. */
export interface PollLook {
  readonly nowMs: number;
  /** When the oldest poll that is open began; `undefined` when none is. */
  readonly oldestPollAtMs: number | undefined;
  /** Whether a poll should be made now and is not. */
  readonly isDue: boolean;
}

/** What is wrong, and for how long. */
export interface Stall {
  readonly kind: "open" | "due";
  readonly stalledMs: number;
}

/** Beyond its request's timeout, a poll that has not ended is stuck, not slow. */
const STALL_GRACE_MS = 10_000;
/** How long a poll may be due and not made. */
const DUE_GRACE_MS = 30_000;
/** Looks further apart than this had a blocked event loop or a suspended process between them. */
const LONGEST_LOOK_MS = 1_000;

/**
 * Watches the polls of one queue.
 *
 * Only two things are wrong: a poll that is open for longer than its request may take, and a poll
 * that is due and not made. Full slots, a pause, a backoff and an outage are neither. While the
 * event loop is blocked no poll could have ended or begun, so that time does not count.
 */
export class PollWatch {
  readonly #longestPollMs: number;
  #lookedAtMs: number;
  #openForMs = 0;
  #openSinceMs: number | undefined;
  #dueForMs = 0;

  constructor(requestTimeoutMs: number, nowMs: number) {
    this.#longestPollMs = requestTimeoutMs + STALL_GRACE_MS;
    this.#lookedAtMs = nowMs;
  }

  /** @returns whether something went wrong since the last look */
  look({ nowMs, oldestPollAtMs, isDue }: PollLook): boolean {
    const wasStalled = this.stall !== undefined;
    const sinceMs = Math.min(nowMs - this.#lookedAtMs, LONGEST_LOOK_MS);
    this.#lookedAtMs = nowMs;
    const isSamePoll = oldestPollAtMs !== undefined && oldestPollAtMs === this.#openSinceMs;
    const newForMs = Math.min(sinceMs, nowMs - (oldestPollAtMs ?? nowMs));
    this.#openForMs = isSamePoll ? this.#openForMs + sinceMs : newForMs;
    this.#openSinceMs = oldestPollAtMs;
    this.#dueForMs = isDue ? this.#dueForMs + sinceMs : 0;
    return !wasStalled && this.stall !== undefined;
  }

  get stall(): Stall | undefined {
    if (this.#openForMs > this.#longestPollMs) {
      return { kind: "open", stalledMs: this.#openForMs };
    }
    if (this.#dueForMs > DUE_GRACE_MS) return { kind: "due", stalledMs: this.#dueForMs };
    return undefined;
  }
}
