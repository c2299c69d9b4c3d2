/** Plays one cell: a worker under trial from its start to its exit, then one that meets no faults. */

import type { ProxiedRequest } from "@leasehold/local-aws";
import type { FaultCell } from "./fault-cells.ts";
import type { PlannedJob } from "./fault-jobs.ts";
import type { FaultRecord } from "./fault-record.ts";
import { FaultWorld } from "./fault-world.ts";

/** A cell that was played to its end. */
export interface PlayedCell {
  readonly record: FaultRecord;
  /** Requests of the worker under trial that were to meet a fault. */
  readonly faulted: readonly ProxiedRequest[];
}

const OUTAGE_MS = 15_000;

const FIRST_JOBS: readonly PlannedJob[] = [
  { kind: "works", takesMs: 14_000 },
  { kind: "works", takesMs: 1_000 },
  // Ends while an extension is under way when requests are slow: it is due after 2,850 ms.
  { kind: "asks-for-later", takesMs: 2_900 },
  { kind: "asks-for-later", takesMs: 3_400 },
  { kind: "fails", takesMs: 700 },
  { kind: "is-poison", takesMs: 500 },
];

const LATER_JOBS: readonly PlannedJob[] = [
  { kind: "works", takesMs: 0 },
  { kind: "works", takesMs: 20 },
  { kind: "works", takesMs: 40 },
  { kind: "is-poison", takesMs: 3_000 },
  { kind: "fails", takesMs: 1_000 },
];

const DRAINED_JOBS: readonly PlannedJob[] = [
  { kind: "works", takesMs: 2_000 },
  { kind: "works", takesMs: 7_000 },
  { kind: "works", takesMs: 60_000 },
  { kind: "works", takesMs: 60_000 },
  { kind: "is-poison", takesMs: 3_000 },
  { kind: "is-poison", takesMs: 5_000 },
  { kind: "asks-for-later", takesMs: 4_400 },
  { kind: "fails", takesMs: 2_500 },
];

const STUBBORN_JOB: PlannedJob = { kind: "is-stubborn", takesMs: 60_000 };

/**
 * Plays a cell to its end.
 *
 * @throws Error when the worker never exits, or work is left that nobody finishes
 */
export async function playCell(cell: FaultCell): Promise<PlayedCell> {
  await using world = await FaultWorld.open();
  const worker = world.worker(true);
  void worker.start();
  const exited = worker.ended.then((report) => ({ atMs: world.clock.wallMs(), report }));
  let exit: Awaited<typeof exited> | undefined;
  void exited.then((known) => {
    exit = known;
  });
  await world.until(() => world.events.some(({ event }) => event.kind === "worker.ready"), 5_000);
  const drained = cell.isWithStubborn ? [...DRAINED_JOBS, STUBBORN_JOB] : DRAINED_JOBS;
  const jobs = cell.phase === "running" ? FIRST_JOBS : drained;
  await world.send(jobs);
  const claimed = () => world.events.filter(({ event }) => event.kind === "lease.claimed").length;
  await world.until(() => claimed() >= jobs.length, 5_000);

  if (cell.phase === "running") await faultWhileRunning(world, cell);
  if (cell.phase === "draining") {
    await world.pass(1_500);
    world.setPlan(cell.plan);
    if (cell.isAboutPolls) await world.until(() => world.faulted.length > 0, 10_000);
  }
  worker.signal("SIGTERM");
  if (cell.phase === "draining") await world.send([{ kind: "works", takesMs: 10 }]);
  await world.until(() => exit !== undefined, 30_000);
  await recover(world);
  if (exit === undefined) throw new Error("the worker has not exited");
  return { record: await world.record(exit, cell.isOutage), faulted: world.faulted };
}

async function faultWhileRunning(world: FaultWorld, { plan }: FaultCell): Promise<void> {
  world.setPlan(plan);
  await world.send(LATER_JOBS);
  await world.pass(OUTAGE_MS);
  world.clearPlan();
  await world.until(() => world.left === 0, 120_000);
}

async function recover(world: FaultWorld): Promise<void> {
  world.clearPlan();
  const successor = world.worker(false);
  void successor.start();
  await world.until(() => world.left === 0, 240_000);
  let isOver = false;
  void successor.drain({ kind: "request", by: "test" }).then(() => {
    isOver = true;
  });
  await world.until(() => isOver, 30_000);
}
