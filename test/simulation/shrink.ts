/** The shortest history that still goes wrong: takes away what can go, as long as something can. */

import type { History } from "./history.ts";

/** Leaves out one thing of a history; none when there is nothing more to leave out. */
type Cut = (history: History) => readonly History[];

const without = <Item>(items: readonly Item[], index: number): readonly Item[] =>
  items.filter((_, at) => at !== index);

const cuts: readonly Cut[] = [
  (history) =>
    history.incidents.map((_, at) => ({ ...history, incidents: without(history.incidents, at) })),
  (history) =>
    history.callFaults.map((_, at) => ({
      ...history,
      callFaults: without(history.callFaults, at),
    })),
  (history) => history.jobs.map((_, at) => ({ ...history, jobs: without(history.jobs, at) })),
  (history) =>
    history.jobs.flatMap((job, at) =>
      job.steps.map((_, step) => ({
        ...history,
        jobs: history.jobs.with(at, { ...job, steps: without(job.steps, step) }),
      })),
    ),
  (history) => (history.providerFaults > 0 ? [{ ...history, providerFaults: 0 }] : []),
  (history) =>
    history.store.throttled + history.store.replyLost > 0
      ? [{ ...history, store: { throttled: 0, replyLost: 0 } }]
      : [],
];

/**
 * @param isBroken - whether a history still goes wrong
 * @param mostTrials - how many are played at most
 */
export async function shrink(
  history: History,
  isBroken: (history: History) => Promise<boolean>,
  mostTrials: number,
): Promise<History> {
  let shortest = history;
  let trials = 0;
  for (let hasShrunk = true; hasShrunk; ) {
    hasShrunk = false;
    for (const cut of cuts) {
      for (let at = 0; trials < mostTrials; ) {
        const shorter = cut(shortest)[at];
        if (shorter === undefined) break;
        trials += 1;
        if (await isBroken(shorter)) {
          shortest = shorter;
          hasShrunk = true;
        } else {
          at += 1;
        }
      }
    }
  }
  return shortest;
}
