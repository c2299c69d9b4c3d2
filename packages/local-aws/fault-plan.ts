/** Which request meets which fault, by its order and by chance from a seed. */

/** On which side of its effect a fault meets a request. */
export type FaultSide = "before" | "after";

/** What goes wrong between a client and AWS. */
export type Fault =
  /** The request (`before`) or its answer (`after`) is under way for so long. */
  | { readonly kind: "latency"; readonly side: FaultSide; readonly delayMs: number }
  /** Refused for the rate of requests, before anything was looked at. */
  | { readonly kind: "throttle"; readonly code?: ThrottleCode }
  /** 500 or 503, by a service that has done nothing (`before`) or everything (`after`). */
  | { readonly kind: "server-error"; readonly side: FaultSide; readonly status?: 500 | 503 }
  /** The connection is reset: the request never arrives (`before`), or its answer (`after`). */
  | { readonly kind: "reset"; readonly side: FaultSide }
  /** Accepted, and neither passed on nor answered. */
  | { readonly kind: "hung" }
  /** Done, and never answered. */
  | { readonly kind: "lost-reply" }
  /** Done; the answer begins at once and trickles in over so long. */
  | { readonly kind: "slow-body"; readonly durationMs: number }
  /**
   * Every other entry of an SQS batch, from the first, fails for a reason that passes; the others
   * are done. Fits no other request.
   */
  | { readonly kind: "failed-entries" };

/** How AWS says that requests come too fast. */
export type ThrottleCode =
  | "RequestThrottled"
  | "ThrottlingException"
  | "ProvisionedThroughputExceededException";

/** Which requests meet a fault: those that fit everything that is given. */
export interface FaultRule {
  readonly fault: Fault;
  /** In the words of `X-Amz-Target`: `ReceiveMessage`, `PutItem`. @defaultValue every action */
  readonly actions?: readonly string[];
  /** Names of queues or tables. @defaultValue each of them, and requests to none */
  readonly resources?: readonly string[];
  /**
   * What ChangeMessageVisibility asks for, for one entry at least; so that releases, at 0, are told
   * from extensions. @defaultValue whatever is asked
   */
  readonly visibilityTimeoutsSeconds?: readonly number[];
  /**
   * The how-manieth of its action among those that fit the fields above, from 1.
   * @defaultValue each
   */
  readonly nth?: readonly number[];
  /** From 0, never, to 1, always. @defaultValue 1 */
  readonly chance?: number;
}

/** The first rule that fits a request decides; a request that none fits passes. */
export interface FaultPlan {
  readonly rules: readonly FaultRule[];
  /** The same seed gives the same chance to the same request. @defaultValue 0 */
  readonly seed?: number;
}

/** What of a request the choice of its fault depends on, and nothing else. */
export interface FaultCandidate {
  readonly action: string;
  readonly resource: string | undefined;
  readonly entries: readonly {
    /** Of a batch. */
    readonly id?: string;
    readonly visibilityTimeoutSeconds?: number;
  }[];
}

/** A plan in which nothing goes wrong. */
export const noFaults: FaultPlan = Object.freeze({ rules: Object.freeze([]) });

/**
 * A plan while it is carried out: counts the requests that it is asked about.
 *
 * Chance comes from the seed, the rule, the action and the request's place among those of its
 * action. So a fault stays with its request when requests of other actions come in another order.
 */
export class FaultSchedule {
  readonly #plan: FaultPlan;
  readonly #counts = new Map<string, number>();

  constructor(plan: FaultPlan) {
    this.#plan = plan;
  }

  /**
   * The fault of the next request, if it meets one.
   * @returns `nth`: the how-manieth of its action, from 1
   */
  next(candidate: FaultCandidate): { readonly nth: number; readonly fault: Fault | undefined } {
    const { action } = candidate;
    const nth = this.#count(action);
    const { rules, seed = 0 } = this.#plan;
    const fitting = rules.filter((rule, index) => {
      if (!fits(rule, candidate)) return false;
      const { chance = 1 } = rule;
      const place = this.#count(`${index}/${action}`);
      const isMeant = rule.nth?.includes(place) !== false;
      return isMeant && (chance >= 1 || drawn(`${seed}/${index}/${action}/${nth}`) < chance);
    });
    return { nth, fault: fitting[0]?.fault };
  }

  #count(what: string): number {
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    return count;
  }
}

/** @throws RangeError naming every rule that makes no sense, not only the first */
export function checkFaultPlan({ rules, seed = 0 }: FaultPlan): void {
  const problems = rules.flatMap((rule, index) =>
    ruleProblems(rule).map((problem) => `rule ${index + 1}: ${problem}`),
  );
  if (!Number.isInteger(seed)) problems.push(`seed must be a whole number, got ${seed}`);
  if (problems.length > 0) throw new RangeError(problems.join("; "));
}

function fits(rule: FaultRule, { action, resource, entries }: FaultCandidate): boolean {
  const { fault, actions, resources, visibilityTimeoutsSeconds: visibilities } = rule;
  return (
    actions?.includes(action) !== false &&
    (resources === undefined || (resource !== undefined && resources.includes(resource))) &&
    (visibilities === undefined ||
      entries.some(({ visibilityTimeoutSeconds: asked = -1 }) => visibilities.includes(asked))) &&
    (fault.kind !== "failed-entries" || entries.some(({ id }) => id !== undefined))
  );
}

function ruleProblems({ fault, nth = [], chance = 1 }: FaultRule): readonly string[] {
  const lengths = [
    ["delayMs", fault.kind === "latency" ? fault.delayMs : 0],
    ["durationMs", fault.kind === "slow-body" ? fault.durationMs : 0],
  ] as const;
  return [
    ...lengths
      .filter(([, lengthMs]) => !(Number.isFinite(lengthMs) && lengthMs >= 0))
      .map(([name, lengthMs]) => `${name} must be 0 or more, got ${lengthMs}`),
    ...nth
      .filter((place) => !(Number.isInteger(place) && place >= 1))
      .map((place) => `nth counts from 1 in whole numbers, got ${place}`),
    ...(chance >= 0 && chance <= 1 ? [] : [`chance must be between 0 and 1, got ${chance}`]),
  ];
}

/** In [0, 1), the same for the same text: FNV-1a, then mixed so that near texts give far numbers. */
function drawn(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
