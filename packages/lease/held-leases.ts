/** Every lease held here: one record for each message, also when it comes twice. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { Arrival } from "./arrival.ts";
import type { FifoGroups, Place } from "./fifo-groups.ts";
import { HeldLease, type LeaseSurroundings } from "./held-lease.ts";
import type { LeaseEvent } from "./lease-event.ts";
import { leftMs } from "./lease-term.ts";

/** What the records need. */
export interface HeldLeasesParts {
  readonly clock: Clock;
  readonly shared: Omit<LeaseSurroundings, "onChange">;
  /** The message groups of a FIFO queue. */
  readonly groups?: FifoGroups;
  /** A lease begins: it is to be kept alive. */
  readonly onBegin: (lease: HeldLease) => void;
  /** A lease has ended. */
  readonly onEnd: (lease: HeldLease) => void;
}

/** One message in this process. */
interface HeldMessage {
  current: HeldLease;
  /** The newest receipt of the same message, while the run of the current one is not over. */
  twin?: { readonly arrival: Arrival; readonly cancelTimer: CancelTimer };
}

/**
 * The leases of one queue by message. SQS may hand out a message that is already here: the lease was
 * lost and its handler still runs, or SQS delivers twice. The second receipt waits until the first
 * run is over, so that one message never has two runs in one process.
 */
export class HeldLeases {
  readonly #parts: HeldLeasesParts;
  readonly #messages = new Map<string, HeldMessage>();
  /** Twins whose turn has come. */
  #ready: HeldLease[] = [];
  #isClosed = false;

  constructor(parts: HeldLeasesParts) {
    this.#parts = parts;
  }

  /** All that have not ended, oldest first. */
  get open(): readonly HeldLease[] {
    return [...this.#messages.values()]
      .map(({ current }) => current)
      .filter((lease) => lease.isOpen)
      .sort((one, other) => one.claimedAt.monotonicMs - other.claimedAt.monotonicMs);
  }

  /** The leases of the messages of one receive, without those that have to wait for a twin's end. */
  admit(arrivals: readonly Arrival[]): readonly HeldLease[] {
    const placed = arrivals.map((arrival) => ({ ...arrival, ...this.#placeOf(arrival) }));
    const leases = placed.map((arrival) => this.#admitOne(arrival));
    return leases.filter((lease) => lease?.isOpen === true) as readonly HeldLease[];
  }

  /**
   * FIFO: the message goes back, and before it whatever is behind it in its group.
   * @returns what went back with it
   */
  goesBack({ place }: HeldLease): readonly HeldLease[] {
    return this.#leave(place);
  }

  #placeOf({ receipt }: Arrival): { readonly place?: Place } {
    const { messageId, groupId = "" } = receipt.message;
    const place = this.#parts.groups?.enter(groupId, messageId);
    return place === undefined ? {} : { place };
  }

  #admitOne(arrival: Arrival): HeldLease | undefined {
    const { messageId } = arrival.receipt.message;
    const held = this.#messages.get(messageId);
    if (held === undefined) return this.#begin(arrival);
    this.#dropTwin(held);
    held.current.adopt(arrival);
    const validMs = this.#validMs(arrival);
    const cancelTimer = this.#parts.clock.schedule(validMs, () => this.#lapse(messageId));
    held.twin = { arrival, cancelTimer };
    return undefined;
  }

  /** Up to `most` leases whose message had to wait and may now run. */
  takeReady(most: number): readonly HeldLease[] {
    const leases = this.#ready.filter((lease) => lease.isOpen);
    this.#ready = leases.slice(most);
    return leases.slice(0, most);
  }

  /** Lets go of everything: what is open lapses. */
  close(): void {
    this.#isClosed = true;
    for (const held of [...this.#messages.values()]) {
      this.#dropTwin(held);
      held.current.apply({ kind: "let-go" }, "Closed");
    }
  }

  #begin(arrival: Arrival): HeldLease {
    const { shared, clock, onBegin } = this.#parts;
    const onChange = (changed: HeldLease) => this.#changed(changed);
    const lease = new HeldLease(arrival, { ...shared, onChange });
    this.#messages.set(lease.ref.messageId, { current: lease });
    const { sentAtMs } = lease.message;
    const ageMs = sentAtMs === 0 ? 0 : Math.max(0, clock.wallMs() - sentAtMs);
    const remainingMs = lease.remainingMs();
    shared.emit({ kind: "lease.claimed", lease: lease.ref, remainingMs, ageMs });
    lease.apply({ kind: "tick" });
    if (lease.isOpen) onBegin(lease);
    if (lease.isOpen && lease.place?.standing === "over") lease.sendBack();
    return lease;
  }

  #changed(lease: HeldLease): void {
    if (!lease.isOpen) this.#ended(lease);
    if (!lease.isOver) return;
    const held = this.#messages.get(lease.ref.messageId);
    if (held?.current !== lease) return;
    this.#messages.delete(lease.ref.messageId);
    const arrival = held.twin?.arrival;
    this.#dropTwin(held);
    const mayRun =
      arrival !== undefined && !lease.hasEndedAllReceipts && this.#validMs(arrival) > 0;
    if (mayRun) this.#ready.push(this.#begin(arrival));
    else this.#leave(arrival?.place);
  }

  #ended(lease: HeldLease): void {
    this.#parts.onEnd(lease);
    if (lease.place === undefined) return;
    if (lease.isDeleted) this.#parts.groups?.pass(lease.place);
    else this.#leave(lease.place);
  }

  /** Whatever is behind a message that is not worked here goes back, the last one first. */
  #leave(place: Place | undefined): readonly HeldLease[] {
    if (place === undefined || this.#isClosed) return [];
    const behind = this.#parts.groups?.leave(place) ?? [];
    const leases = behind.flatMap((each) => {
      const lease = this.#messages.get(each.messageId)?.current;
      return lease?.place === each && lease.isOpen ? [lease] : [];
    });
    for (const lease of leases) lease.sendBack();
    return leases;
  }

  /** The twin has waited for as long as its receipt holds: SQS hands the message out again. */
  #lapse(messageId: string): void {
    const held = this.#messages.get(messageId);
    if (held?.twin === undefined) return;
    const { receipt, place } = held.twin.arrival;
    const { message } = receipt;
    this.#dropTwin(held);
    if (held.current.isOpen) return; // Extended by the newest handle: nothing has lapsed.
    this.#leave(place);
    const { queueName, emit } = this.#parts.shared;
    const { receiveCount } = message;
    const event: LeaseEvent = {
      kind: "lease.lapsing",
      lease: { queue: queueName, messageId, receiveCount },
      during: "held-back",
      code: "FormerRunNotOver",
      visibleInMs: this.#parts.shared.options.leaseMarginMs,
    };
    emit(event);
  }

  #dropTwin(held: HeldMessage): void {
    held.twin?.cancelTimer();
    delete held.twin;
  }

  /** How long the receipt itself promises the message, without any extension. */
  #validMs({ sentAt }: Arrival): number {
    const { clock, shared } = this.#parts;
    const { visibilityTimeoutMs, leaseMarginMs } = shared.options;
    const at = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    return leftMs(sentAt, at) + visibilityTimeoutMs - leaseMarginMs;
  }
}
