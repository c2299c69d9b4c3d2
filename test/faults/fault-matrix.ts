/** The cells: what goes wrong, with which request, how often, and what the worker does meanwhile. */

import type { Fault } from "@leasehold/local-aws";
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

/** Every action of the worker. */
const actions = [
  "ReceiveMessage",
  "ChangeMessageVisibilityBatch",
  "DeleteMessageBatch",
  "SendMessage",
] as const;

/** What the worker does while it goes wrong. */
export type FaultPhase = "running" | "draining";

/** How often it goes wrong: once, now and then, or each time for longer than a lease lives. */
const strengths = ["first", "second", "half", "outage"] as const;

/** One cell. */
export interface FaultCell {
  readonly fault: Fault;
  readonly action: (typeof actions)[number];
  readonly phase: FaultPhase;
  readonly strength: (typeof strengths)[number];
  readonly seed?: number;
}

/** Every cell of a phase by its name; without `isFull` only those that go wrong once or each time. */
export function cellsOf(
  phase: FaultPhase,
  isFull: boolean,
): readonly (readonly [name: string, cell: FaultCell])[] {
  const often = strengths.filter((one) => isFull || one === "first" || one === "outage");
  return actions.flatMap((action) =>
    Object.entries(faults).flatMap(([name, fault]) =>
      often.map((strength) => {
        const cell: FaultCell = { fault, action, phase, strength };
        return [`${action}, ${strength}: ${name}`, cell] as const;
      }),
    ),
  );
}

/** A cell that was played to its end. */
export interface PlayedCell {
  readonly record: FaultRecord;
  readonly faultsMet: number;
}

const OUTAGE_MS = 15_000;

const FIRST_JOBS: readonly PlannedJob[] = [
  { kind: "works", takesMs: 14_000 },
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
  const jobs = cell.phase === "running" ? FIRST_JOBS : drainedJobs(cell);
  await world.send(jobs);
  const claimed = () => world.events.filter(({ event }) => event.kind === "lease.claimed").length;
  await world.until(() => claimed() >= jobs.length, 5_000);

  if (cell.phase === "running") await faultWhileRunning(world, cell);
  if (cell.phase === "draining") {
    await world.pass(1_500);
    goWrong(world, cell);
    // No poll begins in a drain: one that is open meets the fault.
    if (cell.action === "ReceiveMessage") await world.until(() => world.faultsMet > 0, 10_000);
  }
  worker.signal("SIGTERM");
  if (cell.phase === "draining") await world.send([{ kind: "works", takesMs: 10 }]);
  await world.until(() => exit !== undefined, 30_000);
  const { faultsMet } = world;
  await recover(world);
  if (exit === undefined) throw new Error("the worker has not exited");
  return { record: await world.record(exit), faultsMet };
}

/** A handler that does not stop hides the ones that do from the exit code: not in every cell. */
function drainedJobs({ strength }: FaultCell): readonly PlannedJob[] {
  const isWithStubborn = strength === "half" || strength === "second";
  return isWithStubborn
    ? [...DRAINED_JOBS, { kind: "is-stubborn", takesMs: 60_000 }]
    : DRAINED_JOBS;
}

async function faultWhileRunning(world: FaultWorld, cell: FaultCell): Promise<void> {
  goWrong(world, cell);
  await world.send(LATER_JOBS);
  await world.pass(OUTAGE_MS);
  world.clearPlan();
  await world.until(() => world.left === 0, 120_000);
}

function goWrong(world: FaultWorld, { fault, action, strength, seed = 1 }: FaultCell): void {
  const often = {
    first: { nth: [1] },
    second: { nth: [2] },
    half: { chance: 0.5 },
    outage: {},
  }[strength];
  world.setPlan({ seed, rules: [{ fault, actions: [action], ...often }] });
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
