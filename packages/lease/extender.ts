/** Port: who keeps the leases of one queue alive, in this thread or in its own. */

import type { HeldLease } from "./held-lease.ts";

/** How many leases a taper shortened, and for how many SQS did not confirm it. */
export interface TaperResult {
  readonly tapered: number;
  readonly refused: number;
}

/** One for each queue. */
export interface Extender {
  /** Keeps the lease alive until `stop` or its end. */
  watch(lease: HeldLease): void;
  /** No further extension; resolves when none is out. An extension after a release would undo it. */
  stop(lease: HeldLease): Promise<void>;
  /** One extension now that reaches `forMs`, as far as it may; resolves when it was answered. */
  reach(lease: HeldLease, forMs: number): Promise<void>;
  /** The lease has ended. */
  forget(lease: HeldLease): void;
  /** Shortens at once what reaches beyond the target, and lets nothing reach beyond it from now on. */
  beginDrain(targetAtMs: number): Promise<TaperResult>;
  /** Ends every timer; no call leaves any more. */
  close(): void;
}
