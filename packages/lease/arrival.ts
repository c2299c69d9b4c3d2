/** One message that a receive has brought, and when. */

import type { Moment } from "@leasehold/clock";
import type { Place } from "./fifo-groups.ts";
import type { Receipt } from "./lease-queue.ts";

/** A receipt and when it came. */
export interface Arrival {
  readonly receipt: Receipt;
  /** When the receive was sent first, by which the twelve hours count. */
  readonly claimedAt: Moment;
  /** When it was sent last, by which the visibility timeout counts. */
  readonly sentAt: Moment;
  readonly answeredAt: Moment;
  /** FIFO: its place in its message group. */
  readonly place?: Place;
}
