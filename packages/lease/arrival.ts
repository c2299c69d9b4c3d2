/** A receipt and when it came. */

import type { Moment } from "@leasehold/clock";
import type { Receipt } from "./lease-queue.ts";

/** A receipt and when it came. */
export interface Arrival {
  readonly receipt: Receipt;
  /** When the receive was sent. */
  readonly sentAt: Moment;
  readonly answeredAt: Moment;
}
