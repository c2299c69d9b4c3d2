/** What a run needs, and what it ends in. */

import type { Clock } from "@leasehold/clock";
import type {
  AttemptLedger,
  JobIdentity,
  JobLedger,
  JobSender,
  MessageReader,
  PayloadStore,
} from "@leasehold/job";
import type { EndOutcome, Lease, ReleaseClass, Turn } from "@leasehold/lease";
import type { Ending, RunOutcome } from "./job-ending.ts";
import type { JobEvent } from "./job-event.ts";
import type { JobRegistry } from "./read-job.ts";
import type { BackoffPolicy } from "./retry-delay.ts";
import type { AttemptBudgets } from "./start-decision.ts";

/** How long a run may take, and how often a job may fail. */
export interface RunPolicy {
  /** For jobs whose definition names no limit of its own. */
  readonly jobTimeoutMs: number;
  readonly budgets: AttemptBudgets;
  /** How long the ledger of attempts may take to answer. */
  readonly ledgerTimeoutMs: number;
  readonly backoff: BackoffPolicy;
  /** How long a job of an unknown type waits for a worker that knows it. */
  readonly unknownTypeGraceMs: number;
}

/** Gives a lease back; whoever runs jobs may hold it until giving back is safe. */
export type GiveBack = (
  lease: Lease,
  delayMs: number,
  releaseClass: ReleaseClass,
) => Promise<EndOutcome>;

/** What all runs of a worker have in common. */
export interface RunParts {
  readonly clock: Clock;
  readonly jobs: JobRegistry;
  readonly policy: RunPolicy;
  /** Counts attempts; `policy.budgets` must suit it. */
  readonly ledger: AttemptLedger;
  /**
   * Counts attempts in the place of `ledger`, and has effects happen once; its outcomes decide.
   * @defaultValue effects and checkpoints are refused
   */
  readonly jobLedger?: JobLedger;
  /** The period in which leases are extended, and the job ledger hears of it. @defaultValue 20_000 */
  readonly heartbeatEveryMs?: number;
  /**
   * Asked once it is known which job a message is, if any, and again before each further try: when
   * it may start. `undefined` starts it at once; until the promise resolves the run holds its lease.
   * @defaultValue the lease's own `turn`
   */
  readonly turn?: (lease: Lease, job?: JobIdentity) => Promise<Turn> | undefined;
  /** FIFO: a try is over, and the next one on the same lease comes later; asks for its `turn` then. */
  readonly rest?: (lease: Lease) => void;
  /**
   * FIFO: the longest wait between two tries on the same lease.
   * @defaultValue whatever is to be tried again is given back
   */
  readonly inPlaceMs?: number;
  /**
   * Asked, after its turn has come, for a job that may be what kills workers: when it may run with no
   * other beside it. `undefined` starts it at once; asked again once the promise has resolved.
   */
  readonly turnAlone?: (lease: Lease) => Promise<Turn> | undefined;
  /** Aborts when the drain begins: from then on nothing is started. */
  readonly draining: AbortSignal;
  /** On the monotonic clock; `undefined` before the drain. */
  readonly drainByMs: () => number | undefined;
  /** The shortest delay of a retry at this moment. */
  readonly shortestDelayMs: () => number;
  readonly giveBack: GiveBack;
  readonly sender?: JobSender;
  /** Where the payloads of claim checks lie. @defaultValue such jobs wait for a worker with a store */
  readonly payloadStore?: PayloadStore;
  /** Read messages that are none of the producer's. @defaultValue such messages are malformed */
  readonly readers?: readonly MessageReader[];
  readonly onEvent: (event: JobEvent) => void;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How a run ended. */
export interface RunEnd {
  readonly outcome: RunOutcome;
  /** What was asked of the lease. */
  readonly ending: Ending["kind"];
  readonly settled: EndOutcome;
  /** A bug of this house, not of the handler; the lease is then left to lapse. */
  readonly fault?: unknown;
}

/**
 * Where a run stands; `held` until its turn has come or comes again, `recording` while its handler's
 * end is written to the job ledger, `ending` once all is decided.
 */
export type RunPhase = "reading" | "held" | "running" | "recording" | "ending" | "ended";
