/** The polls of one queue that have not been answered yet. */

/** One ReceiveMessage under way. */
export interface OpenPoll {
  readonly startedAtMs: number;
  readonly waitMs: number;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** Who is out, since when, and for how long. */
export class OpenPolls {
  readonly #polls = new Set<OpenPoll>();

  get size(): number {
    return this.#polls.size;
  }

  begin(startedAtMs: number, waitMs: number): OpenPoll {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const poll: OpenPoll = { startedAtMs, waitMs, abort: new AbortController(), ended, end };
    this.#polls.add(poll);
    return poll;
  }

  end(poll: OpenPoll): void {
    this.#polls.delete(poll);
    poll.end();
  }

  /** When the oldest of them began; `undefined` when none is open. */
  get oldestAtMs(): number | undefined {
    // A set keeps the order in which they began.
    const [oldest] = this.#polls;
    return oldest?.startedAtMs;
  }

  oldestMs(nowMs: number): number {
    return nowMs - (this.oldestAtMs ?? nowMs);
  }

  /** Without end when none is open. */
  youngestMs(nowMs: number): number {
    return Math.min(...[...this.#polls].map(({ startedAtMs }) => nowMs - startedAtMs));
  }

  /** How long the last of them may still take messages in; 0 when none is open. */
  restMs(nowMs: number): number {
    const rests = [...this.#polls].map(({ startedAtMs, waitMs }) => startedAtMs + waitMs - nowMs);
    return Math.max(0, ...rests);
  }

  /** Resolves when every poll that is open now has ended. */
  async quiet(): Promise<void> {
    await Promise.all([...this.#polls].map(({ ended }) => ended));
  }

  abandon(): void {
    for (const { abort } of this.#polls) abort.abort();
  }
}
