/** One scenario: what is done to which workers, and what must then be true. */

import type { WorkerTimings } from "@leasehold/deployment-contract";
import type { DrillStage } from "./drill-stage.ts";
import type { DrillNumbers, DrillTarget, DrillWork } from "./drill-target.ts";

/** How a process must end: an exit code, one of some, or the signal that ends it. */
export type ExpectedExit = number | readonly number[] | NodeJS.Signals;

/** What is right for this scenario, beside what is right for all. */
export interface Expectation {
  /** By the name of the worker. */
  readonly exits?: Readonly<Record<string, ExpectedExit>>;
  /** Of a worker that is not named there. @defaultValue 0 */
  readonly usualExit?: ExpectedExit;
  /** A lease is lost on purpose, so the same message may be worked on twice at a time. */
  readonly twins?: true;
  /** More waits than workers can take, so what is released waits in turn. */
  readonly backlog?: true;
  /** Jobs must end in the order in which they were sent. */
  readonly inOrder?: true;
  /** By the name of the worker, what it must say, in a line or beside them. */
  readonly says?: Readonly<Record<string, RegExp>>;
  /** By the name of the worker, the message that it must not delete. */
  readonly deletesNothing?: readonly string[];
  /** By when after the first signal a killed worker's message must be received again. */
  readonly backWithinMs?: (timings: WorkerTimings) => number;
  /** Each job that was sent has one effect, at least. @defaultValue nothing is counted */
  readonly effects?: true;
}

/** One scenario. */
export interface Scenario {
  readonly name: string;
  /** What a reader of the report should know, one sentence. */
  readonly story: string;
  /** @defaultValue as the service's own */
  readonly numbers?: DrillNumbers;
  readonly work: (timings: WorkerTimings) => DrillWork;
  /** Whether the target can do it beyond its work and numbers. @defaultValue it can */
  readonly fits?: (target: DrillTarget) => boolean;
  /** What this machine lacks for it, in words. @defaultValue nothing */
  readonly lacking?: () => string | undefined;
  readonly play: (stage: DrillStage) => Promise<void>;
  readonly expect: Expectation;
  /** How long it may take beyond three minutes. @defaultValue 0 */
  readonly extraMs?: number;
  /** Takes more than a core: one such at a time. @defaultValue false */
  readonly isHeavy?: true;
}

/** Why a target cannot be played with; `undefined` when it can. */
export function unfitness(scenario: Scenario, target: DrillTarget): string | undefined {
  const { numbers = {}, fits } = scenario;
  const work = scenario.work(NO_TIMINGS).do;
  if (!target.can.includes(work)) return `${target.name} has no job that can be told to ${work}`;
  const missing = (Object.keys(numbers) as (keyof DrillNumbers)[]).filter(
    (name) => target.follows?.includes(name) !== true,
  );
  if (missing.length > 0) return `${target.name} has no choice of ${missing.join(", ")}`;
  if (fits?.(target) === false) return `${target.name} does not tell how`;
  return undefined;
}

/** What a work is depends on no number, only how long it takes. */
const NO_TIMINGS = {
  drain: {},
  lease: {},
  receive: [],
  job: {},
} as unknown as WorkerTimings;
