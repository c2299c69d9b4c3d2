/** The job ledger over a store: opens a job, or says busy, done or parked. */

import { randomUUID } from "node:crypto";
import type { Clock } from "@leasehold/clock";
import {
  type JobIdentity,
  type JobOpening,
  type LedgerEvent,
  type LedgerListener,
  type OpenRequest,
  parseJobId,
  parseJobType,
  parseTenantId,
  type WorkerLedger,
} from "@leasehold/job";
import { JobOpener } from "./job-opener.ts";
import type { LedgerParts } from "./ledger-parts.ts";
import { LedgerSession } from "./ledger-session.ts";
import type { LedgerStore } from "./ledger-store.ts";
import { OpenedJob } from "./open-job.ts";
import { type LedgerOptions, resolveLedgerOptions } from "./options.ts";
import { PatientStore } from "./patient-store.ts";
import { ProviderGates } from "./provider-gate.ts";
import type { ResultStore } from "./result-store.ts";

/** What a ledger is made of. */
export interface LedgerArguments {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** Part of every provider key: staging must not look like production to a provider. */
  readonly environment: string;
  /** Of this process; part of the owner that a record names. */
  readonly workerId: string;
  /** Where results go that are too big for a record. @defaultValue they are dropped, and reported */
  readonly results?: ResultStore;
  readonly onEvent?: LedgerListener;
  readonly options?: LedgerOptions;
  /** A text that nobody else has. @defaultValue a random UUID */
  readonly unique?: () => string;
  /** In [0, 1), for pauses. @defaultValue Math.random */
  readonly random?: () => number;
}

/** The ledger of one process. */
export type Ledger = WorkerLedger;

/** A job that nobody sends; that its record is not there proves that the store answers. */
const PROBE: JobIdentity = {
  tenantId: parseTenantId("leasehold"),
  jobId: parseJobId("probe"),
  jobType: parseJobType("leasehold.probe"),
};

/**
 * The ledger of one process.
 *
 * @throws InvalidOptionsError
 * @example
 * const ledger = createLedger({ store, clock, environment: "prod", workerId: "w-1" });
 * const opening = await ledger.open({ job, messageId, receiveCount: 1, surroundings });
 */
export function createLedger(args: LedgerArguments): Ledger {
  return new StoredLedger(args);
}

class StoredLedger implements Ledger {
  readonly #parts: LedgerParts;
  readonly #store: LedgerStore;
  readonly #listeners: LedgerListener[];
  readonly #stopping = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(args: LedgerArguments) {
    const { clock, environment, workerId, results } = args;
    const options = resolveLedgerOptions(args.options);
    const { longestPauseMs } = options;
    const random = args.random ?? Math.random;
    const stopping = this.#stopping.signal;
    this.#store = args.store;
    this.#listeners = args.onEvent === undefined ? [] : [args.onEvent];
    const emit: LedgerListener = (event) => this.#emit(event);
    this.#parts = {
      store: new PatientStore({ store: args.store, clock, longestPauseMs, random, stopping }),
      ...{ clock, options, environment, workerId },
      ...(results !== undefined && { results }),
      gates: new ProviderGates({ clock, options, random, emit }),
      emit,
      unique: args.unique ?? randomUUID,
      keep: (work) => this.#keep(work),
      stopping,
    };
  }

  async open(request: OpenRequest): Promise<JobOpening> {
    const session = new LedgerSession(this.#parts, { ...request, job: identityOf(request.job) });
    const opener = new JobOpener(session);
    const { receiveCount, retry, guard, checkpoints } = request;
    const isAgain = receiveCount >= 2 || retry === true;
    const isEager = isAgain || guard === true || checkpoints === true;
    const outcome = isEager ? await opener.open() : undefined;
    if (outcome === undefined || outcome.kind === "draining") return new OpenedJob(session, opener);
    return outcome;
  }

  get unrecorded(): number {
    return this.#pending.size;
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
  }

  async isReachable(): Promise<boolean> {
    try {
      await this.#store.read(PROBE);
      return true;
    } catch {
      return false; // whatever it is, nothing can be recorded now
    }
  }

  onEvent(listener: LedgerListener): void {
    this.#listeners.push(listener);
  }

  #emit(event: LedgerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #keep(work: Promise<unknown>): void {
    const done = work.then(
      () => {},
      () => {}, // whoever waits for it hears of it; nobody may be left
    );
    this.#pending.add(done);
    void done.finally(() => this.#pending.delete(done));
  }
}

/** Whose job it is, without what it carries: events must not show a payload. */
function identityOf({ tenantId, jobId, jobType }: JobIdentity): JobIdentity {
  return { tenantId, jobId, jobType };
}
