/** Which message of a standard queue is served next: the quietest tenant first. Pure. */

import type { DeliveryOrder } from "./delivery-order.ts";
import { PriorityHeap } from "./priority-heap.ts";
import { type StoredMessage, sentBefore } from "./stored-message.ts";

interface Tenant {
  readonly groupId: string;
  readonly visible: PriorityHeap<StoredMessage>;
  inFlight: number;
  /** The order of its oldest visible message. */
  head: number;
}

/** All messages without a MessageGroupId count as one tenant. */
const NO_GROUP = "";

/**
 * Serves the tenant (MessageGroupId) with the fewest messages in flight, and of those the one whose
 * oldest message has waited longest. SQS promises no order here; a released message comes before
 * younger ones, so that a worker which releases and receives again meets its own message at once,
 * the less comfortable of the two possibilities.
 *
 * @see SQS Developer Guide, "Amazon SQS fair queues"
 */
export class FairOrder implements DeliveryOrder {
  readonly #tenants = new Map<string, Tenant>();
  readonly #ready = new PriorityHeap<Tenant>((a, b) =>
    a.inFlight === b.inFlight ? a.head < b.head : a.inFlight < b.inFlight,
  );

  enter(message: StoredMessage): void {
    if (message.state === "delayed") return;
    const tenant = this.#tenant(message);
    if (message.state === "visible") tenant.visible.put(message);
    else tenant.inFlight += 1;
    this.#place(tenant);
  }

  leave(message: StoredMessage): void {
    if (message.state === "delayed") return;
    const tenant = this.#tenant(message);
    if (message.state === "visible") tenant.visible.remove(message);
    else tenant.inFlight -= 1;
    this.#place(tenant);
  }

  begin(): void {}

  next(): StoredMessage | undefined {
    return this.#ready.peek()?.visible.peek();
  }

  #tenant(message: StoredMessage): Tenant {
    const groupId = message.content.groupId ?? NO_GROUP;
    let tenant = this.#tenants.get(groupId);
    if (tenant === undefined) {
      tenant = { groupId, visible: new PriorityHeap(sentBefore), inFlight: 0, head: 0 };
      this.#tenants.set(groupId, tenant);
    }
    return tenant;
  }

  #place(tenant: Tenant): void {
    const first = tenant.visible.peek();
    if (first === undefined) {
      this.#ready.remove(tenant);
      if (tenant.inFlight === 0) this.#tenants.delete(tenant.groupId);
      return;
    }
    tenant.head = first.order;
    this.#ready.put(tenant);
  }
}
