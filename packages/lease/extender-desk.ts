/** What the extender's thread does: keeps the leases it is told of, while the main thread lives. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { FromExtender, PostedQueue, ToExtender } from "./extender-post.ts";
import { KeptLease } from "./kept-lease.ts";
import { LeaseCalls } from "./lease-calls.ts";
import type { LeaseEvent, LeaseRef } from "./lease-event.ts";
import { LeaseExtender } from "./lease-extender.ts";
import type { LeaseQueue } from "./lease-queue.ts";
import type { SharedPulse } from "./shared-pulse.ts";
import { TermSlot } from "./shared-term.ts";
import { pageOf } from "./slot-pool.ts";

/** What a desk works with; nothing in it is a thread, so it is tested without one. */
export interface ExtenderDeskParts {
  readonly clock: Clock;
  readonly pulse: SharedPulse;
  /** How long the main thread may stand still before nothing is extended any more. */
  readonly maxBlockedMs: number;
  readonly openQueue: (queue: PostedQueue) => LeaseQueue;
  readonly post: (message: FromExtender) => void;
  /** 0 up to 1. */
  readonly random: () => number;
}

/** One queue and its leases, by their numbers and by what events call them. */
interface DeskQueue {
  readonly opened: PostedQueue;
  readonly extender: LeaseExtender<KeptLease>;
  readonly leases: Map<number, KeptLease>;
  readonly numbers: Map<LeaseRef, number>;
}

/** How often it shows that it works. */
const BEAT_MS = 250;

/**
 * The far side of the extender.
 *
 * It outlives a handler that blocks the main thread, up to `maxBlockedMs`: a process that stands
 * still for longer is stuck, and must not keep its messages from everybody else. Then it sends
 * nothing until the main thread has beaten again.
 */
export class ExtenderDesk {
  readonly #parts: ExtenderDeskParts;
  readonly #pages: SharedArrayBuffer[] = [];
  readonly #queues = new Map<number, DeskQueue>();
  #cancelBeat: CancelTimer = () => {};

  constructor(parts: ExtenderDeskParts) {
    this.#parts = parts;
    this.#beat();
  }

  hear(message: ToExtender): void {
    switch (message.kind) {
      case "page":
        return void this.#pages.push(message.page);
      case "open":
        return void this.#open(message.queue, message.opened);
      case "watch":
        return void this.#watch(message);
      case "adopt":
        return void this.#adopt(message);
      case "reach":
        return void this.#reach(message);
      case "forget":
        return void this.#forget(message);
      case "drain":
        return void this.#drain(message);
      case "close":
        return void this.#close(message.queue);
      case "wake":
        for (const { extender } of this.#queues.values()) extender.wake();
    }
  }

  /** Ends every timer; no call leaves any more. */
  close(): void {
    this.#cancelBeat();
    for (const queue of [...this.#queues.keys()]) this.#close(queue);
  }

  #open(number: number, opened: PostedQueue): void {
    const { clock, pulse, maxBlockedMs, openQueue, post, random } = this.#parts;
    const { name, options } = opened;
    const extender = new LeaseExtender<KeptLease>({
      ...{ queueName: name, clock, options, random },
      calls: new LeaseCalls(openQueue(opened), clock, options.callTimeoutMs),
      emit: (event) => this.#report(number, event),
      gate: {
        isOpen: () => pulse.silentMs("main") <= maxBlockedMs,
        enter: ({ slot }) => slot.enter(),
        leave: ({ slot, id, isOpen }) => {
          if (!isOpen) post({ kind: "over", queue: number, lease: id });
          if (slot.leave()) post({ kind: "stopped", queue: number, lease: id });
        },
      },
    });
    this.#queues.set(number, { opened, extender, leases: new Map(), numbers: new Map() });
  }

  #watch({ queue, lease, watched }: Extract<ToExtender, { kind: "watch" }>): void {
    const at = this.#queues.get(queue);
    if (at === undefined) return;
    const page = pageOf(this.#pages, watched.place);
    const slot = new TermSlot(page, watched.place, watched.generation);
    const { clock } = this.#parts;
    const { options } = at.opened;
    const kept = new KeptLease({ id: lease, posted: watched, slot, clock, options });
    at.leases.set(lease, kept);
    at.numbers.set(kept.ref, lease);
    at.extender.watch(kept);
  }

  #adopt({ queue, lease, ...newest }: Extract<ToExtender, { kind: "adopt" }>): void {
    const at = this.#queues.get(queue);
    at?.leases.get(lease)?.adopt(newest.receiptHandle, newest.visibleBy);
    at?.extender.wake();
  }

  #forget({ queue, lease }: Extract<ToExtender, { kind: "forget" }>): void {
    const at = this.#queues.get(queue);
    const kept = at?.leases.get(lease);
    if (at === undefined || kept === undefined) return;
    at.leases.delete(lease);
    at.numbers.delete(kept.ref);
    at.extender.forget(kept);
  }

  async #reach(asked: Extract<ToExtender, { kind: "reach" }>): Promise<void> {
    const { queue, lease, forMs, reach } = asked;
    const at = this.#queues.get(queue);
    const kept = at?.leases.get(lease);
    if (kept !== undefined) await at?.extender.reach(kept, forMs);
    this.#parts.post({ kind: "reached", queue, lease, reach });
  }

  async #drain({ queue, targetAtMs }: Extract<ToExtender, { kind: "drain" }>): Promise<void> {
    const at = this.#queues.get(queue);
    const result = await at?.extender.beginDrain(targetAtMs);
    if (result !== undefined) this.#parts.post({ kind: "drained", queue, result });
  }

  #close(queue: number): void {
    const at = this.#queues.get(queue);
    for (const kept of at?.leases.values() ?? []) at?.extender.forget(kept);
    this.#queues.delete(queue);
  }

  #report(queue: number, event: LeaseEvent): void {
    if (!("lease" in event)) return void this.#parts.post({ kind: "event", queue, event });
    const lease = this.#queues.get(queue)?.numbers.get(event.lease);
    if (lease !== undefined) this.#parts.post({ kind: "event", queue, lease, event });
  }

  #beat(): void {
    this.#parts.pulse.beat("extender");
    this.#cancelBeat = this.#parts.clock.schedule(BEAT_MS, () => this.#beat());
  }
}
