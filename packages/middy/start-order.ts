/** Which job of a batch may start now: slots, caps of types, the order of groups, and who runs alone. */

import type { JobIdentity } from "@leasehold/job";
import type { Lease, Turn } from "@leasehold/lease";

/** One message from its arrival to the end of its run. */
interface Seat {
  job?: JobIdentity;
  isRunning: boolean;
  start?: (turn: Turn) => void;
}

/** The order in which the jobs of one batch start. Those that wait hold nothing but their lease. */
export class StartOrder {
  readonly #concurrency: number;
  readonly #maxPerType: ReadonlyMap<string, number>;
  readonly #seats = new Map<Lease, Seat>();
  /** In the order in which they asked. */
  readonly #waiting = new Set<Seat>();
  /** Those that run alone or wait to. */
  readonly #loners = new Set<Seat>();

  constructor(concurrency: number, maxPerType: ReadonlyMap<string, number>) {
    this.#concurrency = concurrency;
    this.#maxPerType = maxPerType;
  }

  /** Jobs that run now. */
  get running(): number {
    return this.#runningSeats.length;
  }

  /** When a job may start: at once, or when the promise resolves with `come`. */
  turn(lease: Lease, job?: JobIdentity): Promise<Turn> | undefined {
    const seat: Seat = this.#seats.get(lease) ?? { isRunning: false };
    if (job !== undefined) seat.job = job;
    this.#seats.set(lease, seat);
    const order = lease.turn;
    if (order === undefined) return this.#ask(seat);
    return order.then((turn) => (turn === "come" ? this.#ask(seat) : undefined) ?? turn);
  }

  /** When a job whose turn has come may run with no other beside it. */
  turnAlone(lease: Lease): Promise<Turn> | undefined {
    const seat = this.#seats.get(lease);
    if (seat === undefined || this.#loners.has(seat)) return undefined;
    this.#loners.add(seat);
    seat.isRunning = false;
    const turn = this.#ask(seat);
    // It was perhaps the last that ran, and another waits for just that.
    this.#serve();
    return turn;
  }

  /** The run is over, or gave its message back unstarted. */
  leave(lease: Lease): void {
    const seat = this.#seats.get(lease);
    if (seat === undefined) return;
    this.#seats.delete(lease);
    this.#waiting.delete(seat);
    this.#loners.delete(seat);
    this.#serve();
  }

  #ask(seat: Seat): Promise<Turn> | undefined {
    if (this.#mayStart(seat)) {
      seat.isRunning = true;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<Turn>();
    seat.start = resolve;
    this.#waiting.add(seat);
    return promise;
  }

  #serve(): void {
    for (const seat of this.#waiting) {
      if (!this.#mayStart(seat)) continue;
      this.#waiting.delete(seat);
      seat.isRunning = true;
      seat.start?.("come");
    }
  }

  #mayStart(seat: Seat): boolean {
    const running = this.#runningSeats;
    const [first] = this.#loners;
    if (first !== undefined) return seat === first && running.length === 0;
    const { job } = seat;
    if (running.length >= this.#concurrency) return false;
    if (job === undefined) return true;
    const ofType = running.filter((each) => each.job?.jobType === job.jobType).length;
    return ofType < (this.#maxPerType.get(job.jobType) ?? Number.POSITIVE_INFINITY);
  }

  get #runningSeats(): readonly Seat[] {
    return [...this.#seats.values()].filter(({ isRunning }) => isRunning);
  }
}
