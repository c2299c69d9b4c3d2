/** Which message of a FIFO queue is served next: in order within its group. Pure. */

import type { DeliveryOrder } from "./delivery-order.ts";
import { PriorityHeap } from "./priority-heap.ts";
import { type StoredMessage, sentBefore } from "./stored-message.ts";

interface Group {
  readonly groupId: string;
  readonly visible: PriorityHeap<StoredMessage>;
  /** In flight or delayed: blocks what follows it. */
  readonly hidden: PriorityHeap<StoredMessage>;
  /** The order of its first message, when that one can be served. */
  head: number;
}

/**
 * A group can be served from its first message up to the first one that is hidden: whatever follows
 * a hidden message waits. One receive takes as many messages of one group as it can before it turns
 * to the next, so messages that this receive has taken do not block their successors in it.
 *
 * @see SQS Developer Guide, "FIFO delivery logic in Amazon SQS"
 */
export class FifoOrder implements DeliveryOrder {
  readonly #groups = new Map<string, Group>();
  readonly #ready = new PriorityHeap<Group>((a, b) => a.head < b.head);
  /** The group that this receive is taking from, and the order of what was hidden when it began. */
  #current: { readonly group: Group; readonly barrier: number } | undefined;

  enter(message: StoredMessage): void {
    const group = this.#group(message);
    (message.state === "visible" ? group.visible : group.hidden).put(message);
    this.#place(group);
  }

  leave(message: StoredMessage): void {
    const group = this.#group(message);
    (message.state === "visible" ? group.visible : group.hidden).remove(message);
    this.#place(group);
  }

  begin(): void {
    this.#current = undefined;
  }

  next(): StoredMessage | undefined {
    const following = this.#current?.group.visible.peek();
    if (following !== undefined && following.order < (this.#current?.barrier ?? 0)) {
      return following;
    }
    const group = this.#ready.peek();
    if (group === undefined) return undefined;
    const barrier = group.hidden.peek()?.order ?? Number.POSITIVE_INFINITY;
    this.#current = { group, barrier };
    return group.visible.peek();
  }

  #group(message: StoredMessage): Group {
    const groupId = message.content.groupId ?? "";
    let group = this.#groups.get(groupId);
    if (group === undefined) {
      const visible = new PriorityHeap(sentBefore);
      group = { groupId, visible, hidden: new PriorityHeap(sentBefore), head: 0 };
      this.#groups.set(groupId, group);
    }
    return group;
  }

  #place(group: Group): void {
    const first = group.visible.peek();
    const blocking = group.hidden.peek();
    if (first === undefined && blocking === undefined) this.#groups.delete(group.groupId);
    if (first === undefined || (blocking !== undefined && blocking.order < first.order)) {
      this.#ready.remove(group);
      return;
    }
    group.head = first.order;
    this.#ready.put(group);
  }
}
