/** What must hold in every history, whatever goes wrong in it, and what was seen of it. */

import type { RequestAnswered } from "@leasehold/embedded-sqs";
import type { JobRecord, LedgerWrite } from "@leasehold/idempotency";
import type { LeaseRef } from "@leasehold/lease";
import type { ShutdownReport, WorkerEvent } from "@leasehold/worker";
import type { ModelCall } from "../support/model-lease-queue.ts";
import { judgeWrite } from "../support/sim/ledger-rules.ts";
import { DrainWatch } from "./drain-watch.ts";
import { rulesAtTheEnd } from "./end-rules.ts";
import { UNKNOWN_GRACE_MS } from "./fleet-worker.ts";
import { HiddenWatch } from "./hidden-watch.ts";
import type { History, JobPlan } from "./history.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { wordFor } from "./sighting.ts";
import type { Trace } from "./trace.ts";

/** A handler at work. */
export interface LiveHandler {
  readonly worker: string;
  readonly messageId: string;
  /** Its own process cannot stop it now: it is dead, stands still, or is blocked. */
  readonly isBeyondReach: () => boolean;
  readonly signal: AbortSignal;
  /** The hint of its drain. */
  readonly draining: AbortSignal;
}

/** What the judge can look at. */
export interface JudgeParts {
  readonly history: History;
  readonly trace: Trace;
  readonly charges: (key: string) => number;
  readonly recordOf: (job: JobPlan) => Promise<JobRecord | undefined>;
  readonly nowMs: () => number;
}

/** From SIGTERM to SIGKILL, as the contract has it, and by how much a lease may outlast it. */
const GRACE_MS = 14_000;
const BEYOND_KILL_MS = 2_000;
/** A second is the grain of SQS, and a call may take another. */
const GRAIN_MS = 2_000;

/** Judges one history. */
export class Judge {
  /** What must not have been, in words. */
  readonly violations: string[] = [];
  readonly #parts: JudgeParts;
  readonly #seen = new Map<string, number>();
  readonly #leases: LeaseWatch;
  readonly #drains: DrainWatch;
  readonly #hidden: HiddenWatch;
  readonly #live = new Set<LiveHandler>();
  readonly #doubles = new Set<string>();
  /** Since when, by worker. */
  readonly #draining = new Map<string, number>();
  /** Messages that a drain gave up, by worker. */
  readonly #givenUp = new Map<string, Set<string>>();
  /** Workers and the messages that they gave back in their drain. */
  readonly #released = new Set<string>();
  readonly #sent: { readonly messageId: string; readonly job: JobPlan }[] = [];
  readonly #gone = new Set<string>();
  readonly #completed = new Set<number>();
  /** Runs that failed, by job. */
  readonly #failures = new Map<number, number>();

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    this.#leases = new LeaseWatch(parts.nowMs, parts.history.visibilityMs);
    this.#hidden = new HiddenWatch(parts.nowMs, parts.history.visibilityMs);
    this.#drains = new DrainWatch(parts.history, parts.nowMs, (id) => this.#name(id));
  }

  /** How often each thing was seen. */
  get seen(): ReadonlyMap<string, number> {
    return this.#seen;
  }

  saw(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }

  sent(messageId: string, job: JobPlan): void {
    this.#sent.push({ messageId, job });
  }

  jobOf(messageId: string): JobPlan | undefined {
    return this.#sent.find((one) => one.messageId === messageId)?.job;
  }

  messageOf(job: JobPlan): string {
    return this.#sent.find((one) => one.job === job)?.messageId ?? "";
  }

  /** The model has injected a second delivery. */
  doubled(messageId: string): void {
    this.#doubles.add(messageId);
  }

  received(...about: Parameters<LeaseWatch["received"]>): void {
    this.#leases.received(...about);
  }

  /** SQS has answered a request about its messages. */
  answered(event: RequestAnswered): void {
    for (const messageId of this.#hidden.answered(event)) {
      if (this.#doubles.has(messageId)) continue;
      this.#broken("SQS", `hears of ${this.#name(messageId)} by a handle that gave it back before`);
    }
  }

  /** A handler is told for how long its lease is held. */
  believes(worker: string, messageId: string, remainingMs: number): void {
    const byMs = this.#hidden.overrated(messageId, remainingMs);
    if (byMs === 0 || this.#doubles.has(messageId)) return;
    this.#broken(worker, `believes to hold ${this.#name(messageId)} for ${byMs} ms too long`);
  }

  /** A release got no answer that says what became of it. */
  perhapsReleased(handle: string): void {
    this.#leases.perhapsReleased(handle);
  }

  /**
   * A worker is killed. In a drain its leases must not reach beyond the end of its grace: that is what
   * the taper is for, as far as its calls go well.
   */
  killed(worker: string): void {
    const startedAtMs = this.#draining.get(worker);
    const { callFaults, incidents } = this.#parts.history;
    const isStill = incidents.some(({ kind }) => kind === "SIGSTOP" || kind === "suspended");
    if (startedAtMs === undefined || callFaults.length > 0 || isStill) return;
    const latestMs = startedAtMs + GRACE_MS + BEYOND_KILL_MS + GRAIN_MS;
    for (const { messageId, byMs } of this.#leases.heldBeyond(worker, latestMs)) {
      if (this.#gone.has(messageId)) continue;
      this.#broken(worker, `is killed and hides ${this.#name(messageId)} ${byMs} ms too long`);
    }
  }

  /** A worker is still there although its grace is over. */
  overstayed(worker: string): void {
    for (const rule of this.#drains.overstayed()) this.#broken(worker, rule);
  }

  /** The history could not be played to its end. */
  brokeDown({ message }: Error): void {
    this.#broken("the fleet", `breaks down: ${message}`);
  }

  /** A call leaves a worker. */
  called(worker: string, call: ModelCall): void {
    if (call.kind === "receive" && this.#draining.has(worker)) {
      this.#broken(worker, "claims after its drain has begun");
    }
    const onDiscard = (messageId: string) => void this.#mayDiscard(worker, messageId);
    for (const { messageId, rule } of this.#leases.called(call, onDiscard)) {
      this.#broken(worker, `${rule}, of ${this.#name(messageId)}`);
    }
  }

  hear(worker: string, event: WorkerEvent): void {
    this.saw(wordFor(event));
    for (const rule of this.#drains.hear(worker, event, this.#live)) this.#broken(worker, rule);
    switch (event.kind) {
      case "drain.started":
        this.#draining.set(worker, this.#parts.nowMs());
        return;
      case "lease.claimed":
        // On FIFO the head of the group, which is hidden, keeps what is behind it from coming.
        if (
          !this.#parts.history.isFifo &&
          this.#released.has(`${worker} ${event.lease.messageId}`)
        ) {
          this.#broken(worker, `takes ${this.#name(event.lease.messageId)} back in its own drain`);
        }
        return;
      case "job.unknown-type":
        this.#unknownType(worker, event);
        return;
      case "lease.lost":
        if (this.#isFair) this.#broken(worker, `loses ${this.#name(event.lease.messageId)}`);
        this.#leases.silence(event.lease, "lost");
        // One that a poll brought too late was never held.
        if (event.during !== "received") this.#gaveUp(worker, event.lease);
        return;
      case "lease.lapsing":
        // One that was held back was never begun: its message may still be garbage of the run before.
        if (event.during !== "let-go" && event.during !== "held-back") {
          this.#leases.silence(event.lease, "lapsing");
        }
        this.#gaveUp(worker, event.lease);
        return;
      case "lease.released":
        if (event.class === "unstarted" && event.delayMs > 0 && !this.#hasEffects(event.lease)) {
          this.#broken(
            worker,
            `releases ${this.#name(event.lease.messageId)}, unstarted, with a delay`,
          );
        }
        // One of an unknown type goes back as a failed one does: by its own ending, not by the drain's.
        if (event.class === "unknown-type") return;
        this.#gaveUp(worker, event.lease);
        if (this.#draining.has(worker)) this.#released.add(`${worker} ${event.lease.messageId}`);
        return;
      default:
        return;
    }
  }

  /** A handler begins; returns how it ends. */
  started(handler: LiveHandler): () => void {
    const { messageId, worker } = handler;
    const twins = [...this.#live].filter(
      (one) => one.messageId === messageId && !one.isBeyondReach() && !one.signal.aborted,
    );
    if (twins.length > 0 && !this.#doubles.has(messageId)) {
      const others = twins.map((one) => one.worker).join(", ");
      this.#broken(worker, `starts ${this.#name(messageId)} while ${others} is at it`);
    }
    this.#judgeOrder(worker, messageId);
    this.#live.add(handler);
    return () => void this.#live.delete(handler);
  }

  /** A handler is told which attempt it is: they grow by failures, not by deliveries. */
  attempted(worker: string, { n }: JobPlan, attempt: number): void {
    const failures = this.#failures.get(n) ?? 0;
    if (attempt <= failures + 1) return;
    this.#broken(worker, `calls it attempt ${attempt} of job ${n}, which failed ${failures} times`);
  }

  /** A handler has thrown, and nobody had asked it to stop. */
  threw({ n }: JobPlan): void {
    this.#failures.set(n, (this.#failures.get(n) ?? 0) + 1);
  }

  /** A handler has come to its end as it should. */
  completed(job: JobPlan): void {
    this.#completed.add(job.n);
  }

  deleted(messageId: string): void {
    this.#gone.add(messageId);
    const job = this.jobOf(messageId);
    if (job === undefined) return;
    void this.#parts.recordOf(job).then((record) => {
      if (record !== undefined && record.state === "open") {
        const open = Object.values(record.effects).filter(
          ({ state }) => state !== "done" && state !== "released",
        );
        if (open.length > 0)
          this.#broken("SQS", `${this.#name(messageId)} was deleted with an open effect`);
      }
    });
  }

  /** The ledger's store has made a write. */
  wrote(write: LedgerWrite, before: JobRecord | undefined, after: JobRecord): void {
    const isExcused = false;
    try {
      judgeWrite(write, before, after, { countOf: this.#parts.charges, isExcused });
    } catch (error) {
      this.#broken("the ledger", (error as Error).message);
    }
  }

  exited(worker: string, report: ShutdownReport): void {
    this.saw(`exit ${report.exitCode}`);
    for (const rule of this.#drains.exited(worker, report)) this.#broken(worker, rule);
    const { exitCode, unfinished, totals } = report;
    // What was never started is given back at no cost; a poll that is left is told of, and is no work.
    const isClean = unfinished.every(({ started }) => !started);
    if (exitCode === 0 && !isClean) this.#broken(worker, "exits 0 although work is unfinished");
    // 69: its queue or table could not be reached at the start.
    if (
      exitCode !== 0 &&
      exitCode !== 69 &&
      isClean &&
      !unfinished.some(({ disposal }) => disposal === "lapsing")
    ) {
      this.#broken(worker, `exits ${exitCode} although nothing is unfinished`);
    }
    const isTold = (report.queuesWithPollsLeft ?? []).length > 0;
    if (totals.pollsLeft > 0 !== isTold)
      this.#broken(worker, "does not name the polls that it left");
    const told = new Set(unfinished.map(({ messageId }) => messageId));
    for (const messageId of this.#givenUp.get(worker) ?? []) {
      if (!told.has(messageId)) this.#broken(worker, `does not report ${this.#name(messageId)}`);
    }
  }

  /** All is over, or has had time to be. */
  async close(left: number, deadLetters: ReadonlySet<string>): Promise<void> {
    const { recordOf, charges } = this.#parts;
    const rules = await rulesAtTheEnd({
      ...{ left, deadLetters, recordOf, charges, sent: this.#sent },
      ...{ gone: this.#gone, completed: this.#completed, failures: this.#failures },
      name: (messageId) => this.#name(messageId),
    });
    for (const { who, rule } of rules) this.#broken(who, rule);
  }

  /** One that another worker may know has its time, by whatever clock is not stepped. */
  #unknownType(
    worker: string,
    { lease, disposal }: Extract<WorkerEvent, { kind: "job.unknown-type" }>,
  ): void {
    const sentAtMs = this.jobOf(lease.messageId)?.sentAtMs ?? 0;
    const isEarly = this.#parts.nowMs() - sentAtMs < UNKNOWN_GRACE_MS - GRAIN_MS;
    const isStepped = this.#parts.history.incidents.some(({ kind }) => kind === "clock-step");
    if (disposal !== "dead-lettered" || !isEarly || isStepped) return;
    this.#broken(worker, `dead-letters ${this.#name(lease.messageId)}, unknown, before its time`);
  }

  /** What comes before a message in its group must be gone before it is worked. */
  #judgeOrder(worker: string, messageId: string): void {
    const index = this.#sent.findIndex((one) => one.messageId === messageId);
    const group = this.#sent[index]?.job.group;
    if (group === undefined) return;
    for (const before of this.#sent.slice(0, index)) {
      if (before.job.group !== group || this.#gone.has(before.messageId)) continue;
      this.#broken(
        worker,
        `starts ${this.#name(messageId)} before ${this.#name(before.messageId)} is gone`,
      );
    }
  }

  async #mayDiscard(worker: string, messageId: string): Promise<void> {
    const job = this.jobOf(messageId);
    const record = job && (await this.#parts.recordOf(job));
    if (record?.state !== "done" && record?.state !== "dead" && record?.state !== "cancelled") {
      this.#broken(
        worker,
        `deletes ${this.#name(messageId)} on a lost lease, and its job is not done`,
      );
    }
  }

  /** Nothing but deploys happens, and no loop stands still: then no lease has a reason to be lost. */
  get #isFair(): boolean {
    const { callFaults, incidents, jobs } = this.#parts.history;
    if (jobs.some(({ steps }) => steps.some((step) => step.do === "block"))) return false;
    return callFaults.length === 0 && incidents.every(({ kind }) => kind.includes("deploy"));
  }

  /** An effect of unknown outcome keeps its job away until it has settled. */
  #hasEffects({ messageId }: LeaseRef): boolean {
    return this.jobOf(messageId)?.steps.some((step) => step.do === "charge") === true;
  }

  #gaveUp(worker: string, { messageId }: LeaseRef): void {
    if (!this.#draining.has(worker)) return;
    const known = this.#givenUp.get(worker) ?? new Set();
    this.#givenUp.set(worker, known.add(messageId));
  }

  #name(messageId: string): string {
    const { job } = this.#sent.find((one) => one.messageId === messageId) ?? {};
    return job === undefined ? messageId : `job ${job.n}`;
  }

  #broken(who: string, rule: string): void {
    const told = `${who} ${rule}`;
    if (!this.violations.includes(told)) this.violations.push(told);
    this.#parts.trace.note(who, `VIOLATION: ${rule}`);
  }
}
