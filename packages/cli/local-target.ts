/** What the `local` command must know of a service, as plain data and a few pure functions. */

import type { DeploymentContract, PresetName } from "@leasehold/deployment-contract";
import type { TableDefinition } from "@leasehold/local-aws";

/** What is fixed for one session, and what the worker's environment is made from. */
interface LocalSession {
  /** As chosen by `--preset`; the service's own choice when absent. */
  readonly preset?: PresetName;
  /** For what the service keeps; it exists, and with `--data` the next session finds it as it was left. */
  readonly folder: string;
  /** Folder for what the jobs produce; it exists. */
  readonly receiptsFolder: string;
  /** Port of the worker's admin server; 0 is any free one. */
  readonly adminPort: number;
  /** How long each piece of work should take at least, as chosen by `--render-ms`. */
  readonly renderMs?: number;
  /** The least level that the worker's log must have, so that the session can count. */
  readonly logLevel: "debug";
}

/** Where a companion lives. */
interface CompanionSite {
  /** For what it keeps; it exists, and with `--data` the next session finds it as it was left. */
  readonly folder: string;
}

/** Something that runs beside the worker. */
export interface Companion {
  /** Shown to people, for example `payments`. */
  readonly name: string;
  /** Where it can be reached. */
  readonly endpoint: string;
  /** By which the worker finds it. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** One job to send, before the producer has made it a message. */
export interface SampleJob {
  readonly type: string;
  readonly tenantId: string;
  readonly jobId: string;
  readonly payload: unknown;
}

/** Which jobs to make. */
export interface SampleRequest {
  /** At least 1. */
  readonly count: number;
  /** The same seed makes the same jobs; another seed makes jobs with other ids. */
  readonly seed: number;
}

/**
 * A service that `leasehold local --target FILE` can run: FILE exports it as `target`.
 *
 * Plain data on purpose: the service imports neither this package nor an emulator.
 */
export interface LocalTarget {
  /** Shown to people, for example `billing-worker`. */
  readonly name: string;
  /** The worker as a program: the absolute path of a script for Node, and its arguments. */
  readonly command: readonly [script: string, ...args: string[]];
  /** The numbers of the service, from its own preset or this one. */
  contract(preset?: PresetName): DeploymentContract;
  /** Tables of the service besides the job ledger, which the contract has. */
  readonly tables: readonly TableDefinition[];
  /**
   * Starts what the worker needs besides AWS, for example a provider that it calls; absent when there
   * is nothing such. Runs in the command's process, and is closed once the worker has ended.
   */
  startCompanion?(site: CompanionSite): Promise<Companion>;
  /** Variables of the worker, besides those that say where AWS and its companion are. */
  environment(session: LocalSession): Readonly<Record<string, string>>;
  /**
   * The type of job that `renderMs` makes long, and how many sample jobs bring one of it; a drill waits
   * for these to start. @defaultValue every sample job is as long as that
   */
  readonly slowJob?: { readonly type: string; readonly samples: number };
  /** Realistic jobs, exactly `count` of them. */
  sampleJobs(request: SampleRequest): Iterable<SampleJob>;
}
