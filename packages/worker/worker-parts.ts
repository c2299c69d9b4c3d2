/** What a worker is made of, and whether the parts fit together. */

import type { Clock } from "@leasehold/clock";
import {
  assertContract,
  type DeploymentContract,
  verifyContract,
} from "@leasehold/deployment-contract";
import type {
  AnyJobDefinition,
  AttemptLedger,
  JobSender,
  MessageReader,
  PayloadStore,
  WorkerLedger,
} from "@leasehold/job";
import type { ExtenderThread, LeaseQueue } from "@leasehold/lease";
import { InvalidOptionsError } from "@leasehold/options";
import type { MemoryUse } from "./memory-guard.ts";
import type { WorkerOptions } from "./options.ts";

/** What `createWorker` is given. */
export interface WorkerParts {
  readonly contract: DeploymentContract;
  readonly jobs: readonly AnyJobDefinition[];
  /** One for each queue of the contract, by its name. */
  readonly queues: readonly LeaseQueue[];
  readonly clock: Clock;
  /** How jobs send child jobs; without one `context.send` fails. */
  readonly sender?: JobSender;
  /**
   * Where payloads lie that were too large for their messages: the store of the producer's
   * `claimCheck`. @defaultValue such jobs are put off, for a worker that has one
   */
  readonly payloadStore?: PayloadStore;
  /**
   * Read messages of services that do not use the producer: `fromJson`, `fromSns`, `fromEventBridge`,
   * `fromS3`. The first that knows a message decides. @defaultValue such messages are malformed
   */
  readonly readers?: readonly MessageReader[];
  /**
   * Counts attempts beyond their deliveries, so that failures, interruptions and crashes each have a
   * budget of their own; the contract's `worker` has the budgets.
   * @defaultValue attempts are counted by receives, against one budget for all
   */
  readonly attemptLedger?: AttemptLedger;
  /**
   * The job ledger: counts attempts in the place of `attemptLedger`, has effects happen once, keeps
   * checkpoints. While its store does not answer nothing is claimed, of any queue. Whoever opened it
   * hands it over: the worker awaits its completions within the flush deadline, and stops it.
   * @defaultValue `context.once` and `context.checkpoint` fail
   */
  readonly ledger?: WorkerLedger;
  /**
   * Extends the leases in its own thread, so that a handler may block the event loop for up to the
   * contract's `lease.maxBlockedMs`. Whoever started it ends it, after the worker.
   * @defaultValue they are extended in this thread
   */
  readonly extenderThread?: ExtenderThread;
  /**
   * Tells how much memory is in use and how much there may be, `undefined` when there is no limit.
   * @defaultValue memory is not watched
   */
  readonly memoryUse?: () => MemoryUse | undefined;
  readonly options?: WorkerOptions;
  /** @defaultValue a random name */
  readonly workerId?: string;
  /** The release of the service, for logs. @defaultValue "unknown" */
  readonly version?: string;
  /** In [0, 1). @defaultValue `Math.random` */
  readonly random?: () => number;
}

/** One finding that keeps no worker from starting. */
export interface Warning {
  readonly rule: string;
  readonly message: string;
  readonly mend: string;
}

/**
 * Refuses parts that do not belong together.
 *
 * @throws ContractViolationError when the contract's numbers would lose or double work
 * @throws InvalidOptionsError naming every queue and job that does not fit
 */
export function assertFit(parts: WorkerParts): void {
  assertContract(parts.contract);
  const problems = [...queueProblems(parts), ...jobProblems(parts)];
  if (problems.length > 0) throw new InvalidOptionsError("worker", problems);
}

/** Receives that leave our budgets the last word, as the contract's B9 asks for with a ledger. */
const RECEIVES_WITH_LEDGER = { standard: 100, fifo: 1_000 } as const;

/** What keeps no worker from starting, and should be known. */
export function warningsOf(parts: WorkerParts): readonly Warning[] {
  return [...verifyContract(parts.contract).warnings, ...receiveWarnings(parts)];
}

/** What costs jobs their reason: SQS dead-letters before the budgets of a ledger do. */
function receiveWarnings({ contract, attemptLedger, ledger }: WorkerParts): readonly Warning[] {
  if (attemptLedger === undefined && ledger === undefined) return [];
  return contract.queues.flatMap(({ name, fifo, maxReceiveCount }, index) => {
    const needed = fifo ? RECEIVES_WITH_LEDGER.fifo : RECEIVES_WITH_LEDGER.standard;
    if (maxReceiveCount >= needed) return [];
    const message =
      `queue ${name}: maxReceiveCount ${maxReceiveCount} should be at least ${needed}, since a ` +
      "ledger counts attempts: SQS may dead-letter jobs that have budgets left, without a reason";
    return [{ rule: "B9", message, mend: `raise queues[${index}].maxReceiveCount to ${needed}` }];
  });
}

function queueProblems({ contract, queues }: WorkerParts): readonly string[] {
  const given = queues.map(({ name }) => name);
  const wanted = contract.queues.map(({ name }) => name);
  const { concurrency } = contract.worker;
  const tooFew = `worker.concurrency must be at least ${wanted.length}, one for each queue's poll`;
  return [
    ...(concurrency < wanted.length ? [`${tooFew}, got ${concurrency}`] : []),
    ...repeated(given).map((name) => `queue ${name} is given twice`),
    ...wanted
      .filter((name) => !given.includes(name))
      .map((name) => `queue ${name} stands in the contract and is not given`),
    ...given
      .filter((name) => !wanted.includes(name))
      .map((name) => `queue ${name} is given and does not stand in the contract`),
    ...queues
      .filter(({ name, fifo }) =>
        contract.queues.some((one) => one.name === name && one.fifo !== fifo),
      )
      .map(
        ({ name, fifo }) => `queue ${name} is ${fifo ? "" : "not "}FIFO, unlike in the contract`,
      ),
  ];
}

function jobProblems({ jobs, ledger }: WorkerParts): readonly string[] {
  const none = jobs.length === 0 ? ["no job is given, so nothing could be worked"] : [];
  const types = jobs.map(({ type }) => type);
  return [
    ...none,
    ...repeated(types).map((type) => `job ${type} is defined twice`),
    ...jobs
      .filter(({ maxConcurrent = 1 }) => !isCap(maxConcurrent))
      .map(
        ({ type, maxConcurrent }) =>
          `maxConcurrent of job ${type} must be a whole number between 1 and 1000, got ${maxConcurrent}`,
      ),
    ...jobs.flatMap((job) => ledgerProblems(job, ledger !== undefined)),
  ];
}

/** What a type wants of the job ledger. */
function ledgerProblems(job: AnyJobDefinition, hasLedger: boolean): readonly string[] {
  return (["guard", "checkpoints"] as const).flatMap((name) => {
    const value: unknown = job[name];
    if (value === undefined || value === false) return [];
    if (value !== true) return [`${name} of job ${job.type} must be true or false, got ${value}`];
    if (hasLedger) return [];
    return [
      `job ${job.type} has ${name}: true, which needs a job ledger: give the worker a ledger`,
    ];
  });
}

function repeated(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function isCap(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 1_000;
}
