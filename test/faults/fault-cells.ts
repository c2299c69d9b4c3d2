/** The cells as data: what goes wrong, with which request, how often, and what the worker does. */

import type { Fault, FaultPlan, FaultRule } from "@leasehold/local-aws";

/** What the worker does while it goes wrong. */
export type FaultPhase = "running" | "draining";

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
  /** Actions that must have suffered from the fault, or the cell has tried nothing. */
  readonly mustSuffer: readonly string[];
}

/** A cell and what to call it. */
export type NamedCell = readonly [name: string, cell: FaultCell];

/** Which requests a row of the matrix is about. */
type Row = Pick<FaultRule, "actions" | "visibilityTimeoutsSeconds">;

const RECEIVE = "ReceiveMessage";
const CHANGE = "ChangeMessageVisibilityBatch";
const DELETE = "DeleteMessageBatch";
const SEND = "SendMessage";
/** The only one that there is for `failed-entries`. */
const BATCHES: readonly string[] = [CHANGE, DELETE];

/** What the jobs of a cell lead to: ten seconds of lease, delays of 3 and 17 s, releases at once. */
const rows: Readonly<Record<string, Row>> = {
  [RECEIVE]: { actions: [RECEIVE] },
  [`${CHANGE} that extends`]: {
    actions: [CHANGE],
    visibilityTimeoutsSeconds: [5, 6, 7, 8, 9, 10],
  },
  [`${CHANGE} that retries`]: { actions: [CHANGE], visibilityTimeoutsSeconds: [3, 17] },
  [`${CHANGE} that releases`]: { actions: [CHANGE], visibilityTimeoutsSeconds: [0] },
  [DELETE]: { actions: [DELETE] },
  [SEND]: { actions: [SEND] },
  "every action": {},
};

/** A running worker gives nothing back; with a drain all of it begins but polls. */
const rowsOf: Readonly<Record<FaultPhase, readonly string[]>> = {
  running: Object.keys(rows).filter((name) => !name.endsWith("releases")),
  draining: Object.keys(rows),
};
const actionsOf: Readonly<Record<FaultPhase, readonly string[]>> = {
  running: [RECEIVE, CHANGE, DELETE, SEND],
  draining: [CHANGE, DELETE, SEND],
};

/** After how long the client gives up: the hard timeout, and a wait of 2 s with 5 s for the rest. */
const CALL_PATIENCE_MS = 1_000;
const RECEIVE_PATIENCE_MS = 7_000;

/** By the patience of the client that meets it. */
const faults: Readonly<Record<string, (patienceMs: number) => Fault>> = {
  "a slow request": () => ({ kind: "latency", side: "before", delayMs: 900 }),
  "a request that arrives after its client gave up": (patienceMs) => {
    return { kind: "latency", side: "before", delayMs: patienceMs + 300 };
  },
  "a slow answer": () => ({ kind: "latency", side: "after", delayMs: 900 }),
  "an answer that comes too late": (patienceMs) => {
    return { kind: "latency", side: "after", delayMs: patienceMs + 300 };
  },
  throttling: () => ({ kind: "throttle" }),
  "500 after the effect": () => ({ kind: "server-error", side: "after" }),
  "503 before the effect": () => ({ kind: "server-error", side: "before", status: 503 }),
  "a reset before the effect": () => ({ kind: "reset", side: "before" }),
  "a reset after the effect": () => ({ kind: "reset", side: "after" }),
  "a hung socket": () => ({ kind: "hung" }),
  "a lost reply": () => ({ kind: "lost-reply" }),
  "a slow body": () => ({ kind: "slow-body", durationMs: 700 }),
  "a body that is too slow": (patienceMs) => {
    return { kind: "slow-body", durationMs: 4 * patienceMs };
  },
  "failed entries": () => ({ kind: "failed-entries" }),
};

/** How often it goes wrong: once, now and then, or each time for longer than a lease lives. */
const strengths = {
  first: { nth: [1] },
  second: { nth: [2] },
  half: { chance: 0.5 },
  outage: {},
} as const satisfies Readonly<Record<string, Omit<FaultRule, "fault">>>;

type Strength = keyof typeof strengths;

/** Under it the faults that come by chance meet every row. */
const SEED = 2;

/** Of each fault in a storm: about two of five requests meet one. */
const STORM_CHANCE = 0.04;

/**
 * Every cell of a phase. Without `isFull` each request meets each fault once, and all meet it
 * together for longer than a lease lives.
 */
export function cellsOf(phase: FaultPhase, isFull: boolean): readonly NamedCell[] {
  return rowsOf[phase].flatMap((row) => {
    const quick: Strength = row === "every action" ? "outage" : "first";
    const often = (Object.keys(strengths) as Strength[]).filter((one) => isFull || one === quick);
    return Object.keys(faults)
      .filter((fault) => isPossible(row, fault))
      .flatMap((fault) => often.map((strength) => cellOf(phase, row, fault, strength)));
  });
}

/** Cells in which every fault may meet every request, by chance from a seed each. */
export function stormsOf(phase: FaultPhase, isFull: boolean): readonly NamedCell[] {
  const seeds = Array.from({ length: isFull ? 60 : 5 }, (_, index) => index + 1);
  return seeds.map((seed) => {
    const rules = Object.values(faults).flatMap((fault) => rulesOf({}, fault, STORM));
    const cell = { phase, plan: { seed, rules }, isOutage: true, isAboutPolls: false };
    return [
      `a storm of all faults, seed ${seed}`,
      { ...cell, isWithStubborn: seed % 2 === 0, mustSuffer: [] },
    ];
  });
}

const STORM = { chance: STORM_CHANCE };

/** Only a batch can fail in part. */
function isPossible(row: string, fault: string): boolean {
  const { actions = BATCHES } = rows[row] ?? {};
  return fault !== "failed entries" || actions.some((action) => BATCHES.includes(action));
}

function cellOf(phase: FaultPhase, row: string, fault: string, strength: Strength): NamedCell {
  const about = rows[row] ?? {};
  const make = faults[fault];
  if (make === undefined) throw new RangeError(`there is no fault ${fault}`);
  const all = actionsOf[phase].filter((one) => fault !== "failed entries" || BATCHES.includes(one));
  const cell: FaultCell = {
    phase,
    plan: { seed: SEED, rules: rulesOf(about, make, strengths[strength]) },
    isOutage: strength === "half" || strength === "outage" || row === "every action",
    isAboutPolls: row === RECEIVE,
    isWithStubborn: strength === "half" || strength === "second",
    mustSuffer: about.actions ?? (strength === "half" ? [] : all),
  };
  return [`${row}, ${strength}: ${fault}`, cell];
}

/** Receives have more patience than the other requests. */
function rulesOf(
  about: Row,
  fault: (patienceMs: number) => Fault,
  often: Omit<FaultRule, "fault">,
): readonly FaultRule[] {
  const others = { ...about, ...often, fault: fault(CALL_PATIENCE_MS) };
  if (about.actions !== undefined && !about.actions.includes(RECEIVE)) return [others];
  const receives = { ...often, actions: [RECEIVE], fault: fault(RECEIVE_PATIENCE_MS) };
  return [receives, { ...others, actions: about.actions ?? [CHANGE, DELETE, SEND] }];
}
