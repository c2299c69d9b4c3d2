/** The cells: what goes wrong, with which request, how often, and what the worker does meanwhile. */

import type { Fault, FaultPlan, FaultRule } from "@leasehold/local-aws";
import type { PlannedJob } from "./fault-jobs.ts";
import type { FaultRecord } from "./fault-record.ts";
import { FaultWorld } from "./fault-world.ts";

/** The hard timeout of the contract is a second; a receive has five more than its wait. */
const faults: Readonly<Record<string, Fault>> = {
  "a slow request": { kind: "latency", side: "before", delayMs: 900 },
  "a request that arrives after its client gave up": {
    kind: "latency",
    side: "before",
    delayMs: 1_300,
  },
  "a slow answer": { kind: "latency", side: "after", delayMs: 900 },
  "an answer that comes too late": { kind: "latency", side: "after", delayMs: 1_300 },
  throttling: { kind: "throttle" },
  "500 after the effect": { kind: "server-error", side: "after" },
  "503 before the effect": { kind: "server-error", side: "before", status: 503 },
  "a reset before the effect": { kind: "reset", side: "before" },
  "a reset after the effect": { kind: "reset", side: "after" },
  "a hung socket": { kind: "hung" },
  "a lost reply": { kind: "lost-reply" },
  "a slow body": { kind: "slow-body", durationMs: 700 },
  "a body that is too slow": { kind: "slow-body", durationMs: 4_000 },
  "failed entries": { kind: "failed-entries" },
};

/** Every action of the worker, alone and all together. */
const actions = [
  "ReceiveMessage",
  "ChangeMessageVisibilityBatch",
  "DeleteMessageBatch",
  "SendMessage",
  "every action",
] as const;

/** What the worker does while it goes wrong. */
export type FaultPhase = "running" | "draining";

/** How often it goes wrong: once, now and then, or each time for longer than a lease lives. */
const strengths = ["first", "second", "half", "outage"] as const;

const howOften: Readonly<Record<(typeof strengths)[number], Omit<FaultRule, "fault">>> = {
  first: { nth: [1] },
  second: { nth: [2] },
  half: { chance: 0.5 },
  outage: {},
};

/** One cell. */
export interface FaultCell {
  readonly phase: FaultPhase;
  readonly plan: FaultPlan;
  /** Whether it goes wrong more than once. */
  readonly isOutage: boolean;
  /** Whether only polls meet the fault: none begins in a drain, so one must be open by then. */
  readonly isAboutPolls: boolean;
  /** Whether one handler does not stop when it is asked; it hides from the exit code those that do. */
  readonly isWithStubborn: boolean;
}

/** A cell and what to call it. */
export type NamedCell = readonly [name: string, cell: FaultCell];

/** Every cell of a phase; without `isFull` only those that go wrong once or each time. */
export function cellsOf(phase: FaultPhase, isFull: boolean): readonly NamedCell[] {
  const often = strengths.filter((one) => isFull || one === "first" || one === "outage");
  return actions.flatMap((action) =>
    Object.entries(faults).flatMap(([name, fault]) =>
      often.map((strength): NamedCell => {
        const which = action === "every action" ? {} : { actions: [action] };
        const cell: FaultCell = {
          phase,
          plan: { seed: 1, rules: [{ fault, ...which, ...howOften[strength] }] },
          isOutage: strength === "half" || strength === "outage",
          isAboutPolls: action === "ReceiveMessage",
          isWithStubborn: strength === "half" || strength === "second",
        };
        return [`${action}, ${strength}: ${name}`, cell];
      }),
    ),
  );
}

/** Cells in which every fault may meet every request, by chance from a seed each. */
export function stormsOf(phase: FaultPhase, isFull: boolean): readonly NamedCell[] {
  const seeds = Array.from({ length: isFull ? 60 : 10 }, (_, index) => index + 1);
  return seeds.map((seed) => {
    const rules = Object.values(faults).map((fault) => ({ fault, chance: STORM_CHANCE }));
    const isWithStubborn = seed % 2 === 0;
    const cell = { phase, plan: { seed, rules }, isOutage: true, isAboutPolls: false };
    return [`a storm of all faults, seed ${seed}`, { ...cell, isWithStubborn }];
  });
}

/** A cell that was played to its end. */
export interface PlayedCell {
  readonly record: FaultRecord;
  readonly faultsMet: number;
}

/** Of each fault: about two of five requests meet one. */
const STORM_CHANCE = 0.04;

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

/** Plays a cell: the worker under trial until its exit, then one that meets no faults. */
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
    if (cell.isAboutPolls) await world.until(() => world.faultsMet > 0, 10_000);
  }
  worker.signal("SIGTERM");
  if (cell.phase === "draining") await world.send([{ kind: "works", takesMs: 10 }]);
  await world.until(() => exit !== undefined, 30_000);
  const { faultsMet } = world;
  await recover(world);
  if (exit === undefined) throw new Error("the worker has not exited");
  return { record: await world.record(exit, cell.isOutage), faultsMet };
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
