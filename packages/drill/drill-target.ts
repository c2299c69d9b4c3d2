/** What a drill must know of a service, as plain data and a few functions. */

import type { DeploymentContract } from "@leasehold/deployment-contract";
import type { TableDefinition } from "@leasehold/local-aws";

/** How the jobs of one scenario behave. */
export interface DrillWork {
  /**
   * `work`: until its time is over or its signal aborts. `ignore-abort`: until its time is over.
   * `return-quietly`: as `work`, but an abort is no error. `block-in-drain`: as soon as a drain begins,
   * computes without a pause. `end-in-drain`: so long after a drain began. `checkpoint`: in steps that
   * are saved. `step-clock`: as `work`, and the worker's wall clock jumps as it begins.
   */
  readonly do:
    | "work"
    | "ignore-abort"
    | "return-quietly"
    | "block-in-drain"
    | "end-in-drain"
    | "checkpoint"
    | "step-clock";
  readonly forMs: number;
  /** From the second delivery on, or in all workers but the first. @defaultValue forMs */
  readonly thenMs?: number;
  /** Of `step-clock`, on the first delivery: by how much the wall clock jumps. @defaultValue 0 */
  readonly stepMs?: number;
}

/** One job to send. */
export interface DrillJob {
  readonly type: string;
  readonly tenantId: string;
  readonly jobId: string;
  readonly payload: unknown;
  /** On a FIFO queue. */
  readonly orderingKey?: string;
}

/** What is fixed for one scenario. */
export interface DrillPlace {
  /** For what the service keeps; empty at first. */
  readonly folder: string;
  readonly contract: DeploymentContract;
  readonly work: DrillWork;
}

/** Something that runs beside the workers. */
export interface DrillCompanion {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** What a scenario changes of the service's contract. */
export interface DrillNumbers {
  readonly fifo?: boolean;
  /** A job ledger is needed. */
  readonly ledger?: boolean;
}

/** One side effect, as its provider has it in its books. */
export interface EffectMoment {
  readonly effect: string;
  readonly jobId: string;
  readonly tenantId?: string;
  /** Unix time. */
  readonly atMs: number;
}

/** A service that can be drilled. */
export interface DrillTarget {
  /** Shown to people, for example `billing-worker`. */
  readonly name: string;
  /** The worker as a program and its arguments. */
  readonly command: readonly string[];
  /** What its jobs can be told to do; a scenario that needs something else is skipped. */
  readonly can: readonly DrillWork["do"][];
  /** Of `DrillNumbers`, those that it can follow. @defaultValue none */
  readonly follows?: readonly (keyof DrillNumbers)[];
  contract(numbers: DrillNumbers): DeploymentContract;
  readonly tables: readonly TableDefinition[];
  startCompanion?(place: DrillPlace): Promise<DrillCompanion>;
  /** Variables of the worker, besides those that say where AWS and its companion are. */
  environment(place: DrillPlace): Readonly<Record<string, string>>;
  /** Variables that tell of a platform whose grace is shorter than the contract's drain. */
  shortGrace?(place: DrillPlace): Readonly<Record<string, string>>;
  /** The type of the jobs that take as long as they are told. @defaultValue every type */
  readonly slowType?: string;
  /** At least `count` jobs, so that as many of them are slow ones or bring one, numbered from `from`, that do the work of the place. */
  jobs(place: DrillPlace, from: number, count: number): readonly DrillJob[];
  /**
   * How often each side effect happened at its provider, by a name of its own; absent when the service
   * has none that can be counted from outside.
   */
  countEffects?(place: DrillPlace): Promise<ReadonlyMap<string, number>>;
  /** When each of them happened, for the timeline. */
  tellEffects?(place: DrillPlace): Promise<readonly EffectMoment[]>;
}
