/** One history of a fleet as plain data, made from a seed: jobs, deploys, and what goes wrong. Pure. */

import { Chance } from "../support/sim/chance.ts";
import { type Profile, profiles } from "./profiles.ts";

/** One step of a handler. */
export type Step =
  | { readonly do: "work"; readonly forMs: number }
  /** Works on although its signal aborts. */
  | { readonly do: "ignore-abort"; readonly forMs: number }
  /** Keeps the event loop from turning. */
  | { readonly do: "block"; readonly forMs: number }
  /** An effect that happens once; `last` finishes the job with it. */
  | {
      readonly do: "charge";
      readonly effect: string;
      readonly last?: true;
      /** What it throws is caught, and the handler goes on as if nothing had happened. */
      readonly isSwallowed?: true;
    }
  | { readonly do: "save" };

/** How a handler ends once its steps are done. */
export type End = "return" | "done" | "permanent";

/** One job. */
export interface JobPlan {
  readonly n: number;
  readonly tenant: string;
  readonly sentAtMs: number;
  /** FIFO: its group. */
  readonly group?: string;
  /** What is no job at all. */
  readonly isMalformed?: true;
  /** Of a type that no worker of the fleet knows. */
  readonly isUnknown?: true;
  readonly steps: readonly Step[];
  /** So many runs fail before one ends as it should. */
  readonly failures: number;
  readonly end: End;
  /** Stops by returning when its signal aborts, as people write it: `if (signal.aborted) return`. */
  readonly isQuiet?: true;
}

/** What happens to calls for some time. */
export interface CallFault {
  readonly kind: (typeof CALL_FAULTS)[number];
  /** Of which place among the workers; all of them when absent. */
  readonly place?: number;
  readonly calls: "receive" | "changeVisibility" | "delete" | "deadLetter" | "all";
  readonly atMs: number;
  readonly forMs: number;
  /** Of the calls in that time. */
  readonly share: number;
}

/** The ways in which a call goes wrong. */
export const CALL_FAULTS = [
  "throttled",
  "server-error",
  "lost-reply",
  "lost-request",
  "slow-answer",
  "slow-request",
  "failed-entries",
] as const;

/** What happens to a worker, its machine, or a message. */
export type Incident =
  | { readonly kind: "SIGKILL"; readonly place: number; readonly atMs: number }
  | {
      readonly kind: "SIGSTOP" | "suspended";
      readonly place: number;
      readonly atMs: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "clock-step";
      readonly place: number;
      readonly atMs: number;
      readonly byMs: number;
    }
  /** SQS hands out a message that somebody holds. */
  | { readonly kind: "double-delivery"; readonly atMs: number }
  /** One after the other, or all at the same moment: SIGTERM, and a new worker. */
  | { readonly kind: "rolling-deploy" | "deploy-at-once"; readonly atMs: number }
  /** An impatient operator, in the middle of a drain. */
  | {
      readonly kind: "second-SIGTERM";
      readonly place: number;
      readonly atMs: number;
      readonly afterMs: number;
    };

/** One history. */
export interface History {
  readonly seed: number;
  readonly profile: Profile;
  readonly isFifo: boolean;
  /** How many workers there are at a time. */
  readonly places: number;
  readonly concurrency: number;
  /** The longer one reaches beyond the end of a drain, so that drains taper leases. */
  readonly visibilityMs: 10_000 | 20_000;
  readonly jobs: readonly JobPlan[];
  readonly callFaults: readonly CallFault[];
  readonly incidents: readonly Incident[];
  /** Shares of the ledger's writes, and of the provider's calls. */
  readonly store: { readonly throttled: number; readonly replyLost: number };
  readonly providerFaults: number;
  /** From here on nothing goes wrong any more. */
  readonly calmAtMs: number;
}

const TENANTS = ["acme", "bolt", "cote"];

/** The history of a seed. */
export function historyOf(seed: number, profile: Profile): History {
  const chance = new Chance(seed * 2_654_435_761 + profile.length);
  const weather = profiles[profile];
  const calmAtMs = 60_000;
  const places = chance.between(2, 5);
  const isFifo = chance.isHit(weather.fifo);
  const count = chance.between(4, weather.mostJobs);
  const jobs = Array.from({ length: count }, (_, n) => jobOf(n, isFifo, chance, weather.effects));
  const times = <Item>(most: number, make: () => Item) =>
    Array.from({ length: chance.between(0, most + 1) }, make);
  const place = () => chance.between(0, places);
  const atMs = () => chance.between(0, calmAtMs - 20_000);
  const incidents = weather.incidents.flatMap(([kind, most]) =>
    times(most, () => incidentOf(kind, place(), atMs(), chance)),
  );
  const noted = incidents.filter((one) => !isHidden(one, incidents));
  const callFaults = times(weather.callFaults, () => callFaultOf(place(), atMs(), chance));
  const ofDrains = noted.flatMap((one) => drainFaultsOf(one, weather.callFaults, chance));
  const shares = {
    throttled: chance.next() * weather.store,
    replyLost: chance.next() * weather.store,
  };
  return {
    ...{ seed, profile, isFifo, places, jobs, incidents: noted, calmAtMs },
    callFaults: [...callFaults, ...ofDrains],
    concurrency: chance.pick([1, 2, 5, 10]),
    visibilityMs: chance.pick([10_000, 10_000, 20_000]),
    store: shares,
    providerFaults: chance.next() * weather.provider,
  };
}

/**
 * A machine whose monotonic clock stood still and whose wall clock was set back: no clock of it tells
 * that time has passed, so no worker on it can know.
 */
function isHidden(incident: Incident, all: readonly Incident[]): boolean {
  if (incident.kind !== "clock-step" || incident.byMs > 0) return false;
  return all.some((one) => one.kind === "suspended" && one.place === incident.place);
}

function jobOf(n: number, isFifo: boolean, chance: Chance, effects: number): JobPlan {
  const sentAtMs = chance.pick([0, 0, chance.between(0, 40_000)]);
  const steps: Step[] = [];
  const isSaving = chance.isHit(0.2);
  for (let step = chance.between(1, 4); step > 0; step -= 1) {
    const work = workOf(chance);
    // Twice in a row would outlast a lease that is extended by the loop itself, on every attempt.
    const isAgain = work.do === "block" && steps.some((one) => one.do === "block");
    if (!isAgain) steps.push(work);
    if (isSaving) steps.push({ do: "save" });
  }
  if (chance.isHit(effects)) {
    const names = chance.pick([["charge"], ["charge"], ["charge", "mail"]]);
    for (const effect of names) {
      const isLast = effect === names.at(-1) && chance.isHit(0.5);
      const at = isLast ? steps.length : chance.between(0, steps.length + 1);
      // Whoever saves progress past an effect of unknown outcome never comes to know it.
      const isSwallowed = chance.isHit(0.15) && !isSaving;
      steps.splice(at, 0, {
        ...{ do: "charge", effect },
        ...(isLast && { last: true }),
        ...(isSwallowed && { isSwallowed: true }),
      });
    }
  }
  return {
    ...{ n, tenant: chance.pick(TENANTS), sentAtMs, steps },
    ...(isFifo && { group: chance.pick(["a", "b"]) }),
    ...(chance.isHit(0.04) && { isMalformed: true }),
    ...(chance.isHit(0.03) && { isUnknown: true }),
    ...(chance.isHit(0.3) && { isQuiet: true }),
    failures: chance.pick([0, 0, 0, 0, 1, 2]),
    end: chance.isHit(0.05) ? "permanent" : chance.pick(["return", "return", "done"]),
  };
}

function workOf(chance: Chance): Step {
  const drawn = chance.next();
  if (drawn < 0.04) return { do: "ignore-abort", forMs: chance.between(5_000, 25_000) };
  if (drawn < 0.06) return { do: "block", forMs: chance.between(500, 4_000) };
  return { do: "work", forMs: chance.pick([0, 20, 400, 3_000, 9_000, 14_000]) };
}

function incidentOf(kind: Incident["kind"], place: number, atMs: number, chance: Chance): Incident {
  switch (kind) {
    case "SIGKILL":
      return { kind, place, atMs };
    case "SIGSTOP":
    case "suspended":
      return { kind, place, atMs, forMs: chance.pick([2_000, 9_000, 15_000, 25_000]) };
    case "clock-step":
      return { kind, place, atMs, byMs: chance.pick([-60_000, -4_000, 4_000, 60_000]) };
    case "second-SIGTERM":
      return { kind, place, atMs, afterMs: chance.pick([200, 1_500, 5_000]) };
    case "double-delivery":
    case "rolling-deploy":
    case "deploy-at-once":
      return { kind, atMs };
  }
}

/** The network is bad as well while a deploy drains its first workers, at their start or at their deadline. */
function drainFaultsOf(
  { kind, atMs }: Incident,
  callFaults: number,
  chance: Chance,
): readonly CallFault[] {
  if (!kind.includes("deploy") || callFaults === 0 || !chance.isHit(0.4)) return [];
  return [
    {
      ...{ kind: chance.pick(CALL_FAULTS), calls: "changeVisibility", forMs: 4_000 },
      ...{ atMs: atMs + chance.pick([0, 7_000]), share: chance.pick([0.3, 0.6, 1]) },
    },
  ];
}

function callFaultOf(place: number, atMs: number, chance: Chance): CallFault {
  const calls = ["receive", "changeVisibility", "changeVisibility", "delete", "all"] as const;
  return {
    kind: chance.pick(CALL_FAULTS),
    ...(chance.isHit(0.7) && { place }),
    calls: chance.pick(calls),
    atMs,
    forMs: chance.pick([1_000, 4_000, 12_000, 20_000]),
    share: chance.pick([0.2, 0.6, 1]),
  };
}
