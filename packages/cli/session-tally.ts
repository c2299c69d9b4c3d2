/** What a session has counted so far, from the worker's own records. Pure. */

import type { WorkerLine } from "./worker-line.ts";

/** Counted since the worker started. */
export interface SessionTally {
  /** Jobs whose handlers run now. */
  readonly running: number;
  /** Messages deleted because their job was done. */
  readonly acked: number;
  /** Messages given back with a delay after a failure. */
  readonly retried: number;
  /** Messages given back otherwise. */
  readonly released: number;
  readonly deadLettered: number;
  readonly lost: number;
  /** Extensions of leases, one for each lease and call. */
  readonly extended: number;
}

/** Before the first record. */
export const EMPTY_TALLY: SessionTally = Object.freeze({
  running: 0,
  acked: 0,
  retried: 0,
  released: 0,
  deadLettered: 0,
  lost: 0,
  extended: 0,
});

/** Which counter each event moves, and by how much. */
const MOVES: ReadonlyMap<string, readonly [counter: keyof SessionTally, by: 1 | -1]> = new Map([
  ["job.started", ["running", 1]],
  ["job.ended", ["running", -1]],
  ["lease.acked", ["acked", 1]],
  ["lease.retried", ["retried", 1]],
  ["lease.released", ["released", 1]],
  ["lease.dead-lettered", ["deadLettered", 1]],
  ["lease.lost", ["lost", 1]],
  ["lease.extended", ["extended", 1]],
]);

/** The tally after one more record. */
export function countLine(tally: SessionTally, { event }: WorkerLine): SessionTally {
  const [counter, by] = MOVES.get(event) ?? [];
  if (counter === undefined || by === undefined) return tally;
  return { ...tally, [counter]: tally[counter] + by };
}
