/** One job from its lease to its settlement. */

import type { Clock } from "@leasehold/clock";
import type { AbortCause, Job, JobIdentity, JobSender } from "@leasehold/job";
import type { EndOutcome, Lease, ReleaseClass } from "@leasehold/lease";
import { type Decision, decideEnding, type Ending, type HandlerOutcome } from "./job-ending.ts";
import type { JobEvent, JobOutcome } from "./job-event.ts";
import { type JobReading, type JobRegistry, readJob } from "./read-job.ts";
import { type AttemptCount, countByReceives } from "./receive-count-ledger.ts";
import { type BackoffPolicy, growingDelayMs } from "./retry-delay.ts";
import { identityOf, RunContext } from "./run-context.ts";
import { codeOf, describeThrown } from "./thrown.ts";

/** How long a run may take, and how often a job may fail. */
export interface RunPolicy {
  /** For jobs whose definition names no limit of its own. */
  readonly jobTimeoutMs: number;
  /** Receives after which a failure is the last. */
  readonly receiveBudget: number;
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
  /** Aborts when the drain begins: from then on nothing is started. */
  readonly draining: AbortSignal;
  /** On the monotonic clock; `undefined` before the drain. */
  readonly drainByMs: () => number | undefined;
  /** The shortest delay of a retry at this moment. */
  readonly shortestDelayMs: () => number;
  readonly giveBack: GiveBack;
  readonly sender?: JobSender;
  readonly onEvent: (event: JobEvent) => void;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How a run ended. */
export interface RunEnd {
  readonly outcome: JobOutcome | "malformed" | "unknown-type" | "unstarted";
  /** What was asked of the lease. */
  readonly ending: Ending["kind"];
  readonly settled: EndOutcome;
  /** A bug of this house, not of the handler; the lease is then left to lapse. */
  readonly fault?: unknown;
}

/** Where a run stands; `ending` once its handler has returned or thrown. */
export type RunPhase = "reading" | "running" | "ending" | "ended";

/**
 * One run of one lease. It begins by itself: reads the message, works the job, settles the lease.
 * None of its promises ever rejects.
 */
export class JobRun {
  readonly lease: Lease;
  /** The handler has ended, or there was none to call: the slot is free again. */
  readonly worked: Promise<void>;
  /** The lease is settled, lost or given up. */
  readonly ended: Promise<RunEnd>;
  readonly #parts: RunParts;
  readonly #worked = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<RunEnd>();
  #phase: RunPhase = "reading";
  #job: JobIdentity | undefined;
  #context: RunContext | undefined;
  #isAbandoned = false;

  constructor(lease: Lease, parts: RunParts) {
    this.lease = lease;
    this.#parts = parts;
    this.worked = this.#worked.promise;
    this.ended = this.#ended.promise;
    void this.#run();
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  /** Which job the message turned out to be, as soon as that is known. */
  get job(): JobIdentity | undefined {
    return this.#job;
  }

  /** Whether the handler was called. */
  get started(): boolean {
    return this.#context !== undefined;
  }

  /** Whether it was given up while its handler still ran. */
  get ignoredAbort(): boolean {
    return this.#isAbandoned && this.started;
  }

  /** Asks the handler to stop; does nothing when there is none that runs. */
  abort(cause: AbortCause): void {
    if (this.#phase === "running") this.#context?.abort(cause);
  }

  /**
   * Gives the lease back over the head of a handler that does not stop, or of a message that is
   * still being read. An ending that is on its way is left to arrive.
   */
  abandon(delayMs: number): void {
    if (this.#isAbandoned || this.#phase === "ending" || this.#phase === "ended") return;
    this.#isAbandoned = true;
    const { lease } = this;
    if (this.#job !== undefined && this.started) {
      const abortedAtMs = this.#context?.abortedAtMs ?? this.#parts.clock.monotonicMs();
      const sinceMs = this.#parts.clock.monotonicMs() - abortedAtMs;
      this.#emit({ kind: "job.ignored-abort", lease: lease.ref, job: this.#job, sinceMs });
    }
    const releaseClass = this.started ? "ignored-abort" : "unstarted";
    const outcome = this.started ? "interrupted" : "unstarted";
    this.#context?.close();
    this.#worked.resolve();
    void this.#finish(outcome, { kind: "release", delayMs, class: releaseClass });
  }

  async #run(): Promise<void> {
    try {
      const reading = await readJob(this.lease.message, this.#parts.jobs);
      if (this.#isAbandoned) return;
      this.#job = jobOf(reading);
      if (this.#parts.draining.aborted) return await this.#leaveUnstarted();
      if (!this.#start()) return;
      if (reading.kind === "malformed") return await this.#refuse(reading);
      if (reading.kind === "unknown") return await this.#wait(reading);
      await this.#work(reading);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  async #leaveUnstarted(): Promise<void> {
    this.#worked.resolve();
    this.#phase = "ending";
    await this.#finish("unstarted", { kind: "release", delayMs: 0, class: "unstarted" });
  }

  /** Whether the lease is still held; when not, nothing is run. */
  #start(): boolean {
    try {
      this.lease.start();
      return true;
    } catch (error) {
      if (codeOf(error) !== "LEASE_LOST") throw error;
      this.#phase = "ended";
      this.#worked.resolve();
      const settled: EndOutcome = { kind: "lost" };
      this.#ended.resolve({ outcome: "lease-lost", ending: "release", settled });
      return false;
    }
  }

  async #refuse(reading: Extract<JobReading, { kind: "malformed" }>): Promise<void> {
    const { reason, detail, identity } = reading;
    const ending: Ending = this.lease.canDeadLetter
      ? { kind: "dead-letter", reason: { code: "malformed", detail: `${reason}: ${detail}` } }
      : { kind: "release", delayMs: this.#growingDelayMs(), class: "malformed" };
    const disposal = ending.kind === "release" ? "released" : "dead-lettered";
    const { ref } = this.lease;
    this.#emit({ kind: "job.malformed", lease: ref, reason, detail, disposal, identity });
    await this.#end("malformed", ending);
  }

  async #wait(reading: Extract<JobReading, { kind: "unknown" }>): Promise<void> {
    const { reason, detail, job } = reading;
    const { lease } = this;
    const isTooOld = this.#ageMs() > this.#parts.policy.unknownTypeGraceMs;
    const delayMs = isTooOld && lease.canDeadLetter ? 0 : this.#growingDelayMs();
    const ending: Ending =
      isTooOld && lease.canDeadLetter
        ? { kind: "dead-letter", reason: { code: reason, detail } }
        : { kind: "release", delayMs, class: "unknown-type" };
    const disposal = ending.kind === "release" ? "released" : "dead-lettered";
    this.#emit({ kind: "job.unknown-type", lease: lease.ref, job, detail, disposal, delayMs });
    await this.#end("unknown-type", ending);
  }

  async #work({ job, definition }: Extract<JobReading, { kind: "job" }>): Promise<void> {
    const { clock, policy } = this.#parts;
    const { ref, message } = this.lease;
    const identity = identityOf(job);
    const count = countByReceives(message.receiveCount, policy.receiveBudget);
    const context = this.#openContext(
      job,
      count.attempt,
      definition.timeoutMs ?? policy.jobTimeoutMs,
    );
    const started = { lease: ref, job: identity, attempt: count.attempt };
    const startedAtMs = clock.monotonicMs();
    this.#emit({ kind: "job.started", ...started, ageMs: this.#ageMs(job.createdAtMs) });
    const handler = await callHandler(() => definition.handler(job, context.forHandler()), context);
    context.close();
    const decision = this.#decide(handler, context, count);
    this.#reportEnd(identity, context, decision);
    const durationMs = clock.monotonicMs() - startedAtMs;
    this.#emit({ kind: "job.ended", ...started, durationMs, ...wordsOf(decision, handler) });
    if (!this.#isAbandoned) await this.#end(decision.outcome, decision.ending);
  }

  #decide(handler: HandlerOutcome, context: RunContext, count: AttemptCount): Decision {
    if (this.#isAbandoned) return GIVEN_UP;
    const { policy } = this.#parts;
    return decideEnding({
      handler,
      ...(context.abortCause === undefined ? {} : { abortCause: context.abortCause }),
      abortReason: context.abortReason,
      signalWasRead: context.signalWasRead,
      count,
      canDeadLetter: this.lease.canDeadLetter,
      backoff: policy.backoff,
      random: this.#parts.random(),
    });
  }

  #openContext(job: Job, attempt: number, timeoutMs: number): RunContext {
    const { clock, draining, drainByMs, sender } = this.#parts;
    const { lease } = this;
    const about = { lease: lease.ref, job: identityOf(job) };
    this.#context = new RunContext({
      ...{ clock, lease, job, attempt, timeoutMs, draining, drainByMs },
      ...(sender === undefined ? {} : { sender }),
      onLog: (level, message, fields) =>
        this.#emit({ kind: "job.log", ...about, level, message, fields }),
      onAbort: (cause) => this.#emit({ kind: "job.aborted", ...about, cause }),
    });
    this.#phase = "running";
    return this.#context;
  }

  #reportEnd(job: JobIdentity, { abortedAtMs }: RunContext, { quietReturn }: Decision): void {
    const about = { lease: this.lease.ref, job };
    if (abortedAtMs !== undefined) {
      const latencyMs = this.#parts.clock.monotonicMs() - abortedAtMs;
      this.#emit({ kind: "job.abort-answered", ...about, latencyMs });
    }
    if (quietReturn) this.#emit({ kind: "job.quiet-return", ...about });
  }

  /** Asks the lease to end and frees the slot; how that goes is awaited by nobody's slot. */
  async #end(outcome: RunEnd["outcome"], ending: Ending): Promise<void> {
    this.#phase = "ending";
    const finished = this.#finish(outcome, ending);
    this.#worked.resolve();
    await finished;
  }

  async #finish(outcome: RunEnd["outcome"], ending: Ending): Promise<void> {
    try {
      const settled = await this.#settle(ending);
      this.#phase = "ended";
      this.#ended.resolve({ outcome, ending: ending.kind, settled });
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #settle(ending: Ending): Promise<EndOutcome> {
    const { lease } = this;
    switch (ending.kind) {
      case "ack":
        return lease.ack();
      case "dead-letter":
        return lease.deadLetter(ending.reason);
      case "retry":
        return lease.retry(this.#fit(ending.delayMs));
      case "release":
        if (this.#isAbandoned) return lease.release(this.#fit(ending.delayMs), ending.class);
        return this.#parts.giveBack(lease, this.#fit(ending.delayMs), ending.class);
    }
  }

  /** A delay that reaches beyond the time for which SQS lets a message be held is refused whole. */
  #fit(delayMs: number): number {
    const shortestMs = delayMs === 0 ? 0 : this.#parts.shortestDelayMs();
    return Math.min(Math.max(delayMs, shortestMs), this.lease.holdRemainingMs());
  }

  #giveUp(fault: unknown): void {
    this.#context?.close();
    this.#phase = "ended";
    this.#worked.resolve();
    const settled: EndOutcome = { kind: "lapsing", visibleInMs: this.lease.expiresInMs() };
    this.#ended.resolve({ outcome: "unstarted", ending: "release", settled, fault });
  }

  #growingDelayMs(): number {
    return growingDelayMs(this.lease.message.receiveCount, this.#parts.policy.backoff);
  }

  /** Since the producer's send, by SQS's clock, or by the producer's when SQS did not say. */
  #ageMs(createdAtMs?: number): number {
    const { sentAtMs } = this.lease.message;
    const bornAtMs = sentAtMs > 0 ? sentAtMs : createdAtMs;
    return bornAtMs === undefined ? 0 : Math.max(0, this.#parts.clock.wallMs() - bornAtMs);
  }

  #emit(event: JobEvent): void {
    this.#parts.onEvent(event);
  }
}

/** The lease was given back over the handler's head: whatever it says now comes too late. */
const GIVEN_UP: Decision = {
  outcome: "interrupted",
  ending: { kind: "release", delayMs: 0, class: "ignored-abort" },
};

/** Whatever the handler does, at once or later, becomes a value. */
async function callHandler(call: () => unknown, context: RunContext): Promise<HandlerOutcome> {
  try {
    return { kind: "returned", saidDone: context.isDone(await call()) };
  } catch (thrown) {
    return { kind: "threw", thrown };
  }
}

function jobOf(reading: JobReading): JobIdentity | undefined {
  return reading.kind === "malformed" ? undefined : identityOf(reading.job);
}

function wordsOf({ outcome, ending }: Decision, handler: HandlerOutcome) {
  return {
    outcome,
    ...(handler.kind === "threw" ? { error: describeThrown(handler.thrown) } : {}),
    ...(ending.kind === "retry" ? { delayMs: ending.delayMs } : {}),
  };
}
