/** One job from its lease to its settlement. */

import type { AbortCause, Job, JobIdentity } from "@leasehold/job";
import type { EndOutcome, Lease, ReleaseClass } from "@leasehold/lease";
import { type Decision, decideEnding, type Ending, type HandlerOutcome } from "./job-ending.ts";
import type { JobEvent } from "./job-event.ts";
import { type JobReading, readJob } from "./read-job.ts";
import { type AttemptCount, countByReceives } from "./receive-count-ledger.ts";
import { growingDelayMs } from "./retry-delay.ts";
import { identityOf, RunContext } from "./run-context.ts";
import type { RunEnd, RunParts } from "./run-parts.ts";
import { codeOf, describeThrown } from "./thrown.ts";
import { malformedEvent, putOffUnknown, refuseMalformed, unknownTypeEvent } from "./turned-away.ts";
import { awaitTurn } from "./waiting-turn.ts";

/** Where a run stands; `held` until its turn has come, `ending` once its handler has ended. */
export type RunPhase = "reading" | "held" | "running" | "ending" | "ended";

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
      if (reading.kind === "job" && !(await this.#mayStart(identityOf(reading.job)))) return;
      if (this.#parts.draining.aborted) return await this.#leaveUnstarted();
      if (!this.#start()) return;
      if (reading.kind === "job") await this.#work(reading);
      else await this.#turnAway(reading);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** Whether to go on, after a wait if there has to be one. */
  async #mayStart(job: JobIdentity): Promise<boolean> {
    const { draining, turn: turnOf } = this.#parts;
    const turn = draining.aborted ? undefined : turnOf?.(this.lease, job);
    if (turn === undefined) return true;
    this.#phase = "held";
    const how = await awaitTurn(turn, { ...this.#parts, lease: this.lease });
    if (this.#isAbandoned) return false;
    if (how === "hold-limit") await this.#leaveUnstarted("hold-limit");
    return how !== "hold-limit";
  }

  async #leaveUnstarted(releaseClass: ReleaseClass = "unstarted"): Promise<void> {
    this.#worked.resolve();
    this.#phase = "ending";
    await this.#finish("unstarted", { kind: "release", delayMs: 0, class: releaseClass });
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

  /** A message that is no job, or none that this worker knows. */
  async #turnAway(reading: Exclude<JobReading, { kind: "job" }>): Promise<void> {
    const { lease } = this;
    const { backoff, unknownTypeGraceMs } = this.#parts.policy;
    const { receiveCount } = lease.message;
    const { canDeadLetter, ref } = lease;
    const facts = { canDeadLetter, receiveCount, backoff };
    if (reading.kind === "malformed") {
      const ending = refuseMalformed(reading, facts);
      this.#emit(malformedEvent(ref, reading, ending));
      return await this.#end("malformed", ending);
    }
    const ending = putOffUnknown(reading, { ...facts, ageMs: this.#ageMs(), unknownTypeGraceMs });
    this.#emit(unknownTypeEvent(ref, reading, ending));
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
        return lease.deadLetter(ending.reason, this.#refusedDelayMs());
      case "retry":
        return lease.retry(this.#fit(ending.delayMs));
      case "release":
        if (this.#isAbandoned) return lease.release(this.#fit(ending.delayMs), ending.class);
        return this.#parts.giveBack(lease, this.#fit(ending.delayMs), ending.class);
    }
  }

  /** What was refused once is refused again: each time it stays away for longer. */
  #refusedDelayMs(): number {
    const { receiveCount } = this.lease.message;
    return this.#fit(growingDelayMs(receiveCount, this.#parts.policy.backoff));
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
