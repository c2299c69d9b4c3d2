/** What the main thread and the extender's thread write to each other. */

import type { Moment } from "@leasehold/clock";
import type { TaperResult } from "./extender.ts";
import type { LeaseEvent, LeaseRef } from "./lease-event.ts";
import type { ResolvedLeaseOptions } from "./options.ts";

/** A queue as the thread gets to know it. */
export interface PostedQueue {
  readonly name: string;
  readonly url: string;
  readonly options: ResolvedLeaseOptions;
}

/** A lease as the thread gets to know it; its times lie in the place. */
export interface PostedLease {
  readonly ref: LeaseRef;
  readonly receiptHandle: string;
  readonly claimedAt: Moment;
  readonly place: number;
  readonly generation: number;
}

/** To the extender's thread; `queue` and `lease` are numbers that are never used twice. */
export type ToExtender =
  /** The next page of places. */
  | { readonly kind: "page"; readonly page: SharedArrayBuffer }
  | { readonly kind: "open"; readonly queue: number; readonly opened: PostedQueue }
  | {
      readonly kind: "watch";
      readonly queue: number;
      readonly lease: number;
      readonly watched: PostedLease;
    }
  /** The message was received again. */
  | {
      readonly kind: "adopt";
      readonly queue: number;
      readonly lease: number;
      readonly receiptHandle: string;
      readonly visibleBy: Moment;
    }
  /** The lease has ended; its state has been set to stop before. */
  | { readonly kind: "forget"; readonly queue: number; readonly lease: number }
  /** One extension that reaches `forMs`; answered by `reached` with the same number. */
  | {
      readonly kind: "reach";
      readonly queue: number;
      readonly lease: number;
      readonly forMs: number;
      readonly reach: number;
    }
  | { readonly kind: "drain"; readonly queue: number; readonly targetAtMs: number }
  | { readonly kind: "close"; readonly queue: number }
  /** The main thread turns again after a block. */
  | { readonly kind: "wake" };

/** From the extender's thread. */
export type FromExtender =
  /** It has its client and works. */
  | { readonly kind: "ready" }
  /** What was reported of one lease, or of the queue. */
  | {
      readonly kind: "event";
      readonly queue: number;
      readonly lease?: number;
      readonly event: LeaseEvent;
    }
  /** It was refused, or an answer came too late: its place says so. */
  | { readonly kind: "over"; readonly queue: number; readonly lease: number }
  /** The last call for this lease is over, and its outcome stands in its place. */
  | { readonly kind: "stopped"; readonly queue: number; readonly lease: number }
  /** Its extension was answered, or there was none to make. */
  | {
      readonly kind: "reached";
      readonly queue: number;
      readonly lease: number;
      readonly reach: number;
    }
  | { readonly kind: "drained"; readonly queue: number; readonly result: TaperResult };
