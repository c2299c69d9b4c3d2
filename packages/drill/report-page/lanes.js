/** Sorts a timeline into one lane per worker, and the leases of a lane into rows. Pure. */

/** @import { Timeline, TimelineEffect, TimelineLease, TimelineLine, TimelinePhase, TimelineWorker } from "../timeline.ts" */

/**
 * What the reader wants to see; an empty word asks for nothing.
 * @typedef {{ tenantId: string, job: string, ending: string }} Filter
 */
/**
 * A thing to draw, with the key by which the page finds it again.
 * @template T
 * @typedef {{ key: string, of: T }} Keyed
 */
/** @typedef {Keyed<TimelineLease> & { row: number, marks: Keyed<TimelineEffect>[] }} LaneLease */
/**
 * @typedef {object} Lane
 * @property {string} name
 * @property {TimelineWorker | undefined} worker Absent for what no worker reported.
 * @property {LaneLease[]} leases
 * @property {number} rows
 * @property {Keyed<TimelinePhase>[]} phases
 * @property {Keyed<TimelineLine>[]} lines
 * @property {Keyed<TimelineEffect>[]} strays Effects that no lease of this lane covers.
 */

export const ELSEWHERE = "seen elsewhere";

/**
 * @param {Pick<TimelineLease, "tenantId" | "jobId" | "jobType" | "messageId" | "ending">} lease
 * @param {Filter} filter
 * @returns {boolean}
 */
export function isWanted(lease, filter) {
  if (filter.tenantId !== "" && lease.tenantId !== filter.tenantId) return false;
  if (filter.ending !== "" && lease.ending !== filter.ending) return false;
  const word = filter.job.trim().toLowerCase();
  return [lease.jobId, lease.jobType, lease.messageId].some((name) =>
    name?.toLowerCase().includes(word),
  );
}

/**
 * Puts each lease in the first row that is free by then, as a worker's slots are taken.
 * @param {readonly { fromMs: number, toMs: number }[]} leases In the order of their beginning.
 * @returns {{ rowOf: number[], rows: number }}
 */
export function packRows(leases) {
  /** @type {number[]} */
  const freeFromMs = [];
  const rowOf = leases.map(({ fromMs, toMs }) => {
    const free = freeFromMs.findIndex((atMs) => atMs <= fromMs);
    const row = free === -1 ? freeFromMs.length : free;
    freeFromMs[row] = toMs;
    return row;
  });
  return { rowOf, rows: freeFromMs.length };
}

/**
 * Puts each label in the first row where it covers no other; -1 where none is free. The ones that
 * come first are the last to be left out.
 * @param {readonly { x: number, width: number }[]} labels
 * @param {number} mostRows
 * @returns {number[]}
 */
export function placeLabels(labels, mostRows) {
  /** @type {{ x: number, width: number }[][]} */
  const rows = Array.from({ length: mostRows }, () => []);
  return labels.map((label) => {
    const free = rows.findIndex((placed) =>
      placed.every((other) => other.x + other.width <= label.x || label.x + label.width <= other.x),
    );
    rows[free]?.push(label);
    return free;
  });
}

/**
 * The lanes of a timeline: one per worker, and one for effects that no worker reported.
 * @param {Timeline} timeline
 * @param {Filter} filter
 * @returns {Lane[]}
 */
export function lanesOf(timeline, filter) {
  const leases = keyed("lease", timeline.leases).filter(({ of }) => isWanted(of, filter));
  const effects = keyed("effect", timeline.effects);
  const { covered, strays } = attachEffects(effects, leases, filter);
  const lanes = timeline.workers.map((worker) => {
    const own = leases.filter(({ of }) => of.worker === worker.name);
    const { rowOf, rows } = packRows(own.map(({ of }) => of));
    return {
      name: worker.name,
      worker,
      rows,
      leases: own.map((lease, index) => ({
        ...lease,
        row: rowOf[index] ?? 0,
        marks: covered.get(lease.key) ?? [],
      })),
      phases: keyed("phase", timeline.phases).filter(({ of }) => of.worker === worker.name),
      lines: keyed("line", timeline.lines).filter(({ of }) => of.worker === worker.name),
      strays: strays.filter(({ of }) => of.worker === worker.name),
    };
  });
  const unseen = strays.filter(({ of }) => of.worker === undefined);
  if (unseen.length === 0) return lanes;
  return [...lanes, { ...EMPTY_LANE, name: ELSEWHERE, strays: unseen }];
}

/** @type {Lane} */
const EMPTY_LANE = {
  name: "",
  worker: undefined,
  rows: 0,
  leases: [],
  phases: [],
  lines: [],
  strays: [],
};

/**
 * @template T
 * @param {string} kind
 * @param {readonly T[]} things
 * @returns {Keyed<T>[]}
 */
export function keyed(kind, things) {
  return things.map((of, index) => ({ key: `${kind} ${index}`, of }));
}

/**
 * An effect belongs on the lease that covers it; the provider's word counts for whichever that is.
 * @param {Keyed<TimelineEffect>[]} effects
 * @param {Keyed<TimelineLease>[]} leases
 * @param {Filter} filter
 */
function attachEffects(effects, leases, filter) {
  const byJob = Map.groupBy(leases, ({ of }) => of.jobId);
  /** @type {Map<string, Keyed<TimelineEffect>[]>} */
  const covered = new Map();
  /** @type {Keyed<TimelineEffect>[]} */
  const strays = [];
  for (const effect of effects) {
    const lease = byJob.get(effect.of.jobId)?.find(({ of }) => covers(of, effect.of));
    if (lease !== undefined) covered.set(lease.key, [...(covered.get(lease.key) ?? []), effect]);
    else if (isStrayWanted(effect.of, filter)) strays.push(effect);
  }
  return { covered, strays };
}

/**
 * @param {TimelineLease} lease
 * @param {TimelineEffect} effect
 */
function covers(lease, effect) {
  return (
    (effect.worker === undefined || effect.worker === lease.worker) &&
    (effect.tenantId === undefined || effect.tenantId === lease.tenantId) &&
    effect.atMs >= lease.fromMs &&
    effect.atMs <= lease.toMs
  );
}

/**
 * Endings are asked of leases: an effect outside them has none, so it goes with any but one.
 * @param {TimelineEffect} effect
 * @param {Filter} filter
 */
function isStrayWanted(effect, filter) {
  if (filter.ending !== "") return false;
  if (filter.tenantId !== "" && effect.tenantId !== filter.tenantId) return false;
  return effect.jobId.toLowerCase().includes(filter.job.trim().toLowerCase());
}
