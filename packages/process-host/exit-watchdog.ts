/** Ends the process just before the platform would. */

import type { CancelTimer, Clock } from "@leasehold/clock";

/** Armed by the first word of a shutdown, once; later words do not move it. */
export class ExitWatchdog {
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, onExpired: () => void) {
    this.#clock = clock;
    this.#onExpired = onExpired;
  }

  arm(exitAfterMs: number): void {
    this.#cancel ??= this.#clock.schedule(exitAfterMs, this.#onExpired);
  }

  disarm(): void {
    this.#cancel?.();
  }
}
