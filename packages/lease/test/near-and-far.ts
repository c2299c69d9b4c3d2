/** Two threads in one: a main loop that can be blocked, and the extender's desk beside it. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { ManualClock } from "@leasehold/clock/manual";
import type { LeaseQueue } from "@leasehold/lease";
import { ExtenderDesk } from "../extender-desk.ts";
import type { FromExtender, ToExtender } from "../extender-post.ts";
import { NearEnd, type ThreadListener } from "../extender-thread.ts";
import { newPulse, SharedPulse } from "../shared-pulse.ts";

/** The main thread's view of a clock: while it is blocked, nothing of its own runs. */
export class BlockableLoop implements Clock {
  readonly #clock: ManualClock;
  #waiting: (() => void)[] | undefined;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(durationMs, signal);
  }

  schedule(delayMs: number, run: () => void): CancelTimer {
    let isCancelled = false;
    const cancel = this.#clock.schedule(delayMs, () =>
      this.turn(() => {
        if (!isCancelled) run();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Runs now, or as soon as the loop turns again. */
  turn(run: () => void): void {
    if (this.#waiting === undefined) run();
    else this.#waiting.push(run);
  }

  /**
   * A handler computes for this long. Time goes on for everybody else; `then` is what the handler
   * does at the end of the same turn, before any timer or message has its turn.
   */
  async block(durationMs: number, then: () => void = () => {}): Promise<void> {
    this.#waiting = [];
    await this.#clock.advance(durationMs);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    then();
    for (const run of waiting) run();
    await this.#clock.settle();
  }
}

/** The far end, as a test may treat it. */
export interface FarEnd {
  readonly thread: NearEnd;
  /** Ends the thread at once, as a crash does; calls that are out get no answer any more. */
  crash(): void;
  /** The thread stands still without ending. */
  freeze(): void;
}

/** What a test may choose about the far end. */
export interface FarEndParts {
  readonly clock: ManualClock;
  readonly loop: BlockableLoop;
  readonly queue: LeaseQueue;
  readonly maxBlockedMs: number;
  /** @defaultValue always 0 */
  readonly random?: () => number;
  /** How long the thread takes to start. @defaultValue at once */
  readonly startsAfterMs?: number;
}

/** Starts the desk behind a line on which messages are copied, as between threads. */
export function startFarEnd(parts: FarEndParts): FarEnd {
  const { clock, loop, queue, maxBlockedMs, startsAfterMs = 0, random = () => 0 } = parts;
  const pulse = newPulse();
  let listener: ThreadListener | undefined;
  let desk: ExtenderDesk | undefined;
  let isFrozen = false;
  const unheard: ToExtender[] = [];
  const post = (message: FromExtender) => {
    const copy = structuredClone(message);
    if (!isFrozen) queueMicrotask(() => loop.turn(() => listener?.onMessage(copy)));
  };
  const start = () => {
    if (isFrozen) return;
    desk = new ExtenderDesk({
      ...{ clock, maxBlockedMs, post },
      pulse: new SharedPulse(pulse, clock),
      openQueue: () => queue,
      random,
    });
    for (const message of unheard.splice(0)) desk.hear(message);
    post({ kind: "ready" });
  };
  const end = () => {
    isFrozen = true;
    desk?.close();
  };
  const thread = new NearEnd({
    clock: loop,
    ...{ pulse, maxBlockedMs },
    connect: (to) => {
      listener = to;
      return {
        post: (message) => {
          const copy = structuredClone(message);
          queueMicrotask(() => {
            if (desk === undefined) unheard.push(copy);
            else if (!isFrozen) desk.hear(copy);
          });
        },
        close: end,
      };
    },
  });
  if (startsAfterMs === 0) start();
  else clock.schedule(startsAfterMs, start);
  return {
    thread,
    crash: () => {
      end();
      loop.turn(() => listener?.onFailure({ code: "ThreadCrashed", message: "Error: broken" }));
    },
    freeze: end,
  };
}
