/** Counts what leases report, since the start and from any moment on. */

import type { LeaseEvent } from "@leasehold/lease";

/** How many messages came and how they went. */
export interface Totals {
  readonly claimed: number;
  readonly acked: number;
  readonly retried: number;
  readonly released: number;
  readonly deadLettered: number;
  readonly lost: number;
  readonly extended: number;
  readonly lapsing: number;
}

type Name = keyof Totals;

const COUNTED: Readonly<Partial<Record<LeaseEvent["kind"], Name>>> = {
  "lease.claimed": "claimed",
  "lease.acked": "acked",
  "lease.retried": "retried",
  "lease.released": "released",
  "lease.dead-lettered": "deadLettered",
  "lease.lost": "lost",
  "lease.extended": "extended",
  "lease.lapsing": "lapsing",
};

/** Counters that only grow. */
export class Tally {
  readonly #counts: Record<Name, number> = {
    claimed: 0,
    acked: 0,
    retried: 0,
    released: 0,
    deadLettered: 0,
    lost: 0,
    extended: 0,
    lapsing: 0,
  };

  count(event: LeaseEvent): void {
    const name = COUNTED[event.kind];
    if (name !== undefined) this.#counts[name] += 1;
  }

  /** The counts now; a copy. */
  get totals(): Totals {
    return { ...this.#counts };
  }

  /** What was counted since `before`. */
  since(before: Totals): Totals {
    const entries = Object.entries(this.#counts) as [Name, number][];
    const grown = entries.map(([name, value]) => [name, value - before[name]]);
    return Object.fromEntries(grown) as unknown as Totals;
  }
}
