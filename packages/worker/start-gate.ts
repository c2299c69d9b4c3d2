/** Decides which job may start now, and holds what is over a cap or waits for its group. */

import type { JobIdentity } from "@leasehold/job";
import type { Lease, Turn } from "@leasehold/lease";
import type { SlotShare } from "./slot-shares.ts";
import type { Slots } from "./slots.ts";
import type { WorkerLifeEvent } from "./worker-event.ts";

/** What a gate is made of. */
export interface StartGateParts {
  readonly slots: Slots;
  /** The most jobs of one tenant that run at the same time. */
  readonly maxPerTenant: number;
  /** The same for types of jobs; one that is not named has no cap. */
  readonly maxPerType: ReadonlyMap<string, number>;
  /** How many messages of one queue may be held without a slot. */
  readonly holdLimit: number;
  readonly onEvent: (event: WorkerLifeEvent) => void;
}

/** What a queue's next poll has to know of the messages that are held. */
export interface Crowd {
  /** How many more may be held; without end while none is. */
  readonly holdRoom: number;
  /** Whether some wait in slots, for there is no room to hold them without. */
  readonly isCrowded: boolean;
  /** Whether a job runs alone or waits to, so that nothing else could start. */
  readonly isClosed: boolean;
}

/**
 * One message from its claim to the end of its run. FIFO: `waiting` for those before it in its group,
 * `resting` between two tries.
 */
interface Seat {
  readonly share: SlotShare;
  hasSlot: boolean;
  stage: "reading" | "waiting" | "held" | "running" | "resting";
  job?: JobIdentity;
  start?: (turn: Turn) => void;
}

const NO_CROWD = { holdRoom: Number.POSITIVE_INFINITY, isCrowded: false } as const;

/**
 * The gate between reading a message and starting its job.
 *
 * A job over a cap is held: leased and extended, unstarted, without a slot, so that others can run
 * meanwhile. It is never released for the cap, for a release costs a receive. When the room for more
 * is used up, it waits in the slot that it came with, and its queue polls less.
 *
 * So does a job that waits for its next try. A message that waits for those before it in its group
 * never has a slot, and takes no room: it runs when they have run.
 *
 * A job that may be what kills workers runs alone: it waits, in its slot, until all others have
 * ended, and as long as it waits or runs nothing else starts and nothing is claimed.
 */
export class StartGate {
  readonly #parts: StartGateParts;
  readonly #seats = new Map<Lease, Seat>();
  /** Oldest first. */
  readonly #held = new Set<Seat>();
  readonly #resting = new Set<Seat>();
  /** Those that run alone or wait to, oldest first. */
  readonly #loners = new Set<Seat>();
  #running = 0;
  readonly #tenants = new Map<string, number>();
  readonly #types = new Map<string, number>();

  constructor(parts: StartGateParts) {
    this.#parts = parts;
    parts.slots.serveFirst(() => this.#serve());
  }

  /** A message has come, and a slot with it. */
  arrive(lease: Lease, share: SlotShare): void {
    this.#seats.set(lease, { share, hasSlot: true, stage: "reading" });
  }

  /** When the job may start: at once, or when the promise resolves with `come`. */
  turn(lease: Lease, job?: JobIdentity): Promise<Turn> | undefined {
    const seat = this.#seats.get(lease);
    const order = lease.turn;
    if (seat === undefined) return order;
    if (job !== undefined) seat.job = job;
    this.#resting.delete(seat);
    if (order === undefined) return this.#ask(lease, seat);
    seat.stage = "waiting";
    this.#vacate(seat);
    return order.then((turn) => (turn === "come" ? this.#ask(lease, seat) : undefined) ?? turn);
  }

  /** A try is over, and the next one on the same lease comes later. */
  rest(lease: Lease): void {
    const seat = this.#seats.get(lease);
    if (seat?.stage !== "running") return;
    const wasAlone = this.#loners.delete(seat);
    this.#stop(seat);
    seat.stage = "resting";
    const hasRoom = this.#hasRoomBeside(seat);
    this.#resting.add(seat);
    if (hasRoom) this.#vacate(seat);
    this.#serve();
    if (wasAlone) this.#parts.slots.offer();
  }

  /** When a job whose turn has come may run alone: at once, or when the promise resolves. */
  turnAlone(lease: Lease): Promise<Turn> | undefined {
    const seat = this.#seats.get(lease);
    if (seat?.job === undefined || this.#loners.has(seat)) return undefined;
    this.#loners.add(seat);
    this.#stop(seat);
    if (this.#mayStart(seat)) {
      this.#begin(seat);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<Turn>();
    seat.start = resolve;
    seat.stage = "held";
    this.#held.add(seat);
    this.#parts.onEvent({ kind: "claim.held", lease: lease.ref, job: seat.job, cap: "alone" });
    // It was perhaps the last that ran, and another waits for just that.
    this.#serve();
    return promise;
  }

  /** The run is over, or gave its message back unstarted. */
  leave(lease: Lease): void {
    const seat = this.#seats.get(lease);
    if (seat === undefined) return;
    this.#seats.delete(lease);
    this.#held.delete(seat);
    this.#resting.delete(seat);
    this.#loners.delete(seat);
    this.#stop(seat);
    this.#vacate(seat);
  }

  /** The messages of one queue that are held, as its next poll sees them. */
  crowdOf(share: SlotShare): Crowd {
    const isClosed = this.#loners.size > 0;
    if (this.#held.size + this.#resting.size === 0) return { ...NO_CROWD, isClosed };
    const held = [...this.#held, ...this.#resting].filter((seat) => seat.share === share);
    if (held.length === 0) return { ...NO_CROWD, isClosed };
    const reading = [...this.#seats.values()].filter(
      (seat) => seat.share === share && seat.stage === "reading",
    );
    return {
      holdRoom: Math.max(0, this.#parts.holdLimit - held.length - reading.length),
      isCrowded: held.some(({ hasSlot }) => hasSlot),
      isClosed,
    };
  }

  /** Starts the job, or holds it until it may start. */
  #ask(lease: Lease, seat: Seat): Promise<Turn> | undefined {
    // Its run may have ended while it waited for those before it.
    if (this.#seats.get(lease) !== seat) return undefined;
    if (this.#mayStart(seat) && this.#takeSlot(seat)) {
      this.#begin(seat);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<Turn>();
    seat.start = resolve;
    this.#hold(seat, lease);
    return promise;
  }

  #hold(seat: Seat, { ref }: Lease): void {
    const hasRoom = this.#hasRoomBeside(seat);
    seat.stage = "held";
    this.#held.add(seat);
    const { job } = seat;
    if (job !== undefined) {
      this.#parts.onEvent({ kind: "claim.held", lease: ref, job, cap: this.#capOn(job) });
    }
    if (hasRoom) this.#vacate(seat);
  }

  /** Whether one more message of the same queue may be held without a slot. */
  #hasRoomBeside({ share }: Seat): boolean {
    const held = [...this.#held, ...this.#resting].filter(
      (each) => each.share === share && !each.hasSlot,
    );
    return held.length < this.#parts.holdLimit;
  }

  /** Whether it has a slot now; one in which a job only rests is better used. */
  #takeSlot(seat: Seat): boolean {
    if (seat.hasSlot) return true;
    seat.hasSlot = seat.share.take();
    if (seat.hasSlot) return true;
    const resting = [...this.#resting].find((each) => each.hasSlot);
    if (resting === undefined) return false;
    resting.hasSlot = false;
    resting.share.hand(seat.share);
    seat.hasSlot = true;
    return true;
  }

  #vacate(seat: Seat): void {
    if (!seat.hasSlot) return;
    seat.hasSlot = false;
    seat.share.vacate();
  }

  /** Starts whatever may start now, oldest first. */
  #serve(): void {
    for (const seat of this.#held) {
      if (!this.#mayStart(seat) || !this.#takeSlot(seat)) continue;
      this.#held.delete(seat);
      this.#begin(seat);
      seat.start?.("come");
    }
  }

  #begin(seat: Seat): void {
    seat.stage = "running";
    this.#running += 1;
    if (seat.job !== undefined) this.#count(seat.job, 1);
  }

  #stop(seat: Seat): void {
    if (seat.stage !== "running") return;
    this.#running -= 1;
    if (seat.job !== undefined) this.#count(seat.job, -1);
  }

  #mayStart(seat: Seat): boolean {
    if (seat.job === undefined) return true;
    const [first] = this.#loners;
    if (first !== undefined) return seat === first && this.#running === 0;
    if (seat.hasSlot && this.#parts.slots.isOverdrawn) return false;
    return this.#capOn(seat.job) === "slots";
  }

  /** What keeps the job from starting; `slots` when no cap does. */
  #capOn({ tenantId, jobType }: JobIdentity): "tenant" | "type" | "alone" | "slots" {
    const { maxPerTenant, maxPerType } = this.#parts;
    if (this.#loners.size > 0) return "alone";
    if ((this.#tenants.get(tenantId) ?? 0) >= maxPerTenant) return "tenant";
    const maxOfType = maxPerType.get(jobType) ?? Number.POSITIVE_INFINITY;
    return (this.#types.get(jobType) ?? 0) >= maxOfType ? "type" : "slots";
  }

  #count({ tenantId, jobType }: JobIdentity, by: number): void {
    add(this.#tenants, tenantId, by);
    add(this.#types, jobType, by);
  }
}

/** A count that is nothing is forgotten: tenants come and go. */
function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
