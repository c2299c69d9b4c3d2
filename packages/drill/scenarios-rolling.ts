/** Deploys: of three workers under load, and twenty in a row under one long job. */

import type { DrillStage } from "./drill-stage.ts";
import type { DrillWorker } from "./drill-worker.ts";
import type { Scenario } from "./scenario.ts";

/** Two hundred with the receipts that payments bring. */
const JOBS = 134;
const DEPLOYS = 20;
/**
 * On a busy machine jobs outlast the drain and go back, take too long to stop, or a release stays
 * unanswered and lapses: whatever is true, as long as nothing is lost.
 */
const UNDER_LOAD = [0, 74, 75, 76];

/** Each is replaced as a platform does it: the new one is ready before the old one is told. */
async function rollThree(stage: DrillStage): Promise<void> {
  const old = await startAll(stage, ["old-1", "old-2", "old-3"]);
  await stage.send(JOBS / 2);
  await old[0]?.started(1);
  const fresh: DrillWorker[] = [];
  for (const [index, worker] of old.entries()) {
    const next = await stage.start(`new-${index + 1}`);
    fresh.push(next);
    await next.line("worker.ready");
    await stage.send(Math.ceil(JOBS / 2 / old.length));
    await stage.stop(worker);
  }
  await stage.quiet();
  await Promise.all(fresh.map((worker) => stage.stop(worker)));
}

async function startAll(stage: DrillStage, names: readonly string[]): Promise<DrillWorker[]> {
  const workers = await Promise.all(names.map((name) => stage.start(name)));
  await Promise.all(workers.map((worker) => worker.line("worker.ready")));
  return workers;
}

async function deployAgainAndAgain(stage: DrillStage): Promise<void> {
  await stage.send();
  for (let nth = 1; nth <= DEPLOYS; nth += 1) {
    const worker = await stage.start(`deploy-${nth}`);
    await worker.started(1);
    await stage.stop(worker);
  }
  const last = await stage.start("last");
  await stage.quiet();
  await stage.stop(last);
}

/** Deploys. */
export const rollingScenarios: readonly Scenario[] = [
  {
    name: "rolling deploy of three workers",
    story: "Two hundred jobs while every worker is replaced: nothing lost, each effect once.",
    work: () => ({ do: "work", forMs: 300 }),
    fits: ({ countEffects }) => countEffects !== undefined,
    play: rollThree,
    isHeavy: true,
    expect: {
      ...{ effects: true, backlog: true },
      exits: { "old-1": UNDER_LOAD, "old-2": UNDER_LOAD, "old-3": UNDER_LOAD },
    },
  },
  {
    name: "twenty deploys under one long job",
    story:
      "Each deploy cuts a job short that saves its progress: it ends, and is not dead-lettered.",
    numbers: { ledger: true },
    work: ({ drain }) => ({ do: "checkpoint", forMs: DEPLOYS * (drain.drainMs + 100) }),
    play: deployAgainAndAgain,
    expect: {
      exits: Object.fromEntries(
        Array.from({ length: DEPLOYS }, (_, index) => [`deploy-${index + 1}`, 75]),
      ),
    },
    extraMs: 600_000,
  },
];
