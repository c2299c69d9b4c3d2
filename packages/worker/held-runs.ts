/** Every message that this worker holds, with its run, and what became of those that ended. */

import { type Clock, elapsedMs } from "@leasehold/clock";
import type { JobIdentity } from "@leasehold/job";
import type { JobRun, RunEnd } from "@leasehold/job-run";
import type { Lease, LeaseEvent, LeaseRef } from "@leasehold/lease";
import type { UnfinishedJob } from "./shutdown-report.ts";
import type { InFlightJob } from "./worker-event.ts";
import type { HeldSnapshot } from "./worker-snapshot.ts";

/** Outcomes of jobs that another worker has to begin or to finish, when their message is released. */
const CUT_SHORT: ReadonlySet<RunEnd["outcome"]> = new Set(["interrupted", "unstarted", "stopped"]);

/** The runs that have not ended, by their lease. */
export class HeldRuns {
  readonly #clock: Clock;
  readonly #runs = new Map<Lease, JobRun>();
  readonly #byRef = new WeakMap<LeaseRef, JobRun>();
  readonly #visibleByMs = new WeakMap<LeaseRef, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#runs.size;
  }

  get all(): readonly JobRun[] {
    return [...this.#runs.values()];
  }

  has(lease: Lease): boolean {
    return this.#runs.has(lease);
  }

  add(run: JobRun): void {
    this.#runs.set(run.lease, run);
    this.#byRef.set(run.lease.ref, run);
  }

  remove(run: JobRun): void {
    this.#runs.delete(run.lease);
  }

  /** The job that a message turned out to be, also when its run has ended. */
  jobOf(ref: LeaseRef): JobIdentity | undefined {
    return this.#byRef.get(ref)?.job;
  }

  /** Keeps in mind when a message is visible again. */
  note(event: LeaseEvent): void {
    if (event.kind === "lease.released" || event.kind === "lease.retried") {
      this.#visibleByMs.set(event.lease, this.#clock.wallMs() + event.delayMs);
    }
    if (event.kind === "lease.lapsing") {
      this.#visibleByMs.set(event.lease, this.#clock.wallMs() + event.visibleInMs);
    }
  }

  /** What a report says of a run that has ended; `undefined` when its job ended as a job should. */
  unfinished(run: JobRun, { outcome, settled, ending }: RunEnd): UnfinishedJob | undefined {
    const isCutShort = CUT_SHORT.has(outcome);
    if (settled.kind === "lost") return this.#describe(run, "lost");
    if (settled.kind === "lapsing") return this.#describe(run, "lapsing");
    return isCutShort && ending === "release" ? this.#describe(run, "released") : undefined;
  }

  /** What a report says of everything that has not ended when the process goes. */
  leftBehind(): readonly UnfinishedJob[] {
    return this.all.map((run) => {
      this.#visibleByMs.set(run.lease.ref, this.#clock.wallMs() + run.lease.expiresInMs());
      return this.#describe(run, run.lease.lost.aborted ? "lost" : "lapsing");
    });
  }

  inFlight(): readonly InFlightJob[] {
    return this.all.map((run) => ({
      lease: run.lease.ref,
      ...jobField(run),
      started: run.started,
      heldMs: elapsedMs(this.#clock, run.lease.claimedAt),
      leaseRemainingMs: run.lease.remainingMs(),
    }));
  }

  snapshot(): readonly HeldSnapshot[] {
    return this.all.map((run) => ({
      queue: run.lease.ref.queue,
      messageId: run.lease.ref.messageId,
      receiveCount: run.lease.ref.receiveCount,
      ...jobField(run),
      leaseState: run.lease.state,
      started: run.started,
      heldMs: elapsedMs(this.#clock, run.lease.claimedAt),
      leaseRemainingMs: run.lease.remainingMs(),
    }));
  }

  #describe(run: JobRun, disposal: UnfinishedJob["disposal"]): UnfinishedJob {
    const { queue, messageId } = run.lease.ref;
    const visibleByMs = this.#visibleByMs.get(run.lease.ref);
    const isVisibleKnown = disposal !== "lost" && visibleByMs !== undefined;
    return {
      ...jobField(run),
      queue,
      messageId,
      disposal,
      started: run.started,
      ignoredAbort: run.ignoredAbort || run.phase === "running",
      ...(isVisibleKnown ? { visibleByMs } : {}),
    };
  }
}

function jobField({ job }: JobRun): { readonly job?: JobIdentity } {
  return job === undefined ? {} : { job };
}
