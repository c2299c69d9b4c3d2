/** What an extender needs to know of a lease, and tells it; wherever the lease's state lives. */

import type { LeaseTimes } from "./extension-plan.ts";
import type { LeaseRef } from "./lease-event.ts";
import type { CallAnswer } from "./lease-queue.ts";
import type { LeaseStateEvent } from "./lease-state.ts";

/** What an extender may say to a lease. */
export type ExtensionEvent = Extract<
  LeaseStateEvent,
  { readonly kind: "tick" | "refused" | "shortened" | "restored" }
>;

/** A lease as its extender sees it. */
export interface ExtendedLease {
  readonly ref: LeaseRef;
  /** The newest handle of this message; it changes when the message is received again. */
  readonly receiptHandle: string;
  readonly isOpen: boolean;
  /** Whether the call of its ending is out: its answer decides then, not the clock. */
  readonly isEndingOut: boolean;
  /** Whether its delete is not confirmed yet. */
  readonly isUnconfirmedAck: boolean;
  /** What its extensions are planned by; `undefined` once it has ended. */
  readonly times: LeaseTimes | undefined;
  remainingMs(): number;
  apply(event: ExtensionEvent): unknown;
  /** An extension, sent at `sentAt`, succeeded. */
  extendTo(sentAt: LeaseTimes["lastSentAt"], visibilityTimeoutMs: number): void;
  /** A change of visibility, sent at `sentAt`, was answered: keeps the upper bound of its expiry. */
  noteVisibility(
    answer: CallAnswer,
    sentAt: LeaseTimes["lastSentAt"],
    visibilityTimeoutMs: number,
  ): void;
}
