/** One job from its lease to its settlement. */

import type { AbortCause, GivenUp, JobIdentity } from "@leasehold/job";
import type { EndOutcome, Lease, ReleaseClass, Turn } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import { beginAttempt, startOf, type WaitLimit } from "./attempt-start.ts";
import { answersOf, callHandler, GIVEN_BACK, wordsOf } from "./handler-call.ts";
import { inPlaceDelayMs, waitInPlace } from "./in-place.ts";
import { attemptEnding, type Decision, type Ending, type RunOutcome } from "./job-ending.ts";
import type { JobEvent } from "./job-event.ts";
import { ageOf, checkMessage, identityOf, type JobReading, readMessage } from "./read-job.ts";
import { openContext, type RunContext } from "./run-context.ts";
import type { RunEnd, RunParts } from "./run-parts.ts";
import { settle } from "./settlement.ts";
import { codeOf } from "./thrown.ts";
import { decideTry } from "./try-decision.ts";
import { turnAway } from "./turned-away.ts";
import { awaitTurn } from "./waiting-turn.ts";

/** Where a run stands; `held` until its turn has come or comes again, `ending` once all is decided. */
export type RunPhase = "reading" | "held" | "running" | "ending" | "ended";

type Reading<Kind> = Extract<JobReading, { readonly kind: Kind }>;

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
  #attempt: Attempt | undefined;
  #context: RunContext | undefined;
  #isAbandoned = false;
  #hasIgnoredAbort = false;

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
    return this.#hasIgnoredAbort;
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
    this.#hasIgnoredAbort = this.#phase === "running";
    const { lease } = this;
    if (this.#job !== undefined && this.ignoredAbort) {
      const abortedAtMs = this.#context?.abortedAtMs ?? this.#parts.clock.monotonicMs();
      const sinceMs = this.#parts.clock.monotonicMs() - abortedAtMs;
      this.#emit({ kind: "job.ignored-abort", lease: lease.ref, job: this.#job, sinceMs });
    }
    const releaseClass = this.ignoredAbort ? "ignored-abort" : "unstarted";
    const outcome = this.started ? "interrupted" : "unstarted";
    this.#context?.close();
    this.#worked.resolve();
    void this.#finish(outcome, { kind: "release", delayMs, class: releaseClass });
  }

  async #run(): Promise<void> {
    try {
      const { jobs, clock, policy } = this.#parts;
      const envelope = readMessage(this.lease.message, jobs);
      this.#job = envelope.kind === "malformed" ? undefined : identityOf(envelope.job);
      const limits = { clock, jobTimeoutMs: policy.jobTimeoutMs, over: this.worked };
      const reading = await checkMessage(envelope, limits);
      if (reading === undefined || this.#isAbandoned) return;
      if (reading.kind === "job" || reading.kind === "unanswered") return await this.#try(reading);
      if ((await this.#takeTurn()) && this.#start()) await this.#turnAway(reading);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** From the job's turn to its end, by one try or, in place, by several. */
  async #try(reading: Reading<"job" | "unanswered">): Promise<void> {
    const job = identityOf(reading.job);
    for (let tries = 0; await this.#takeTurn(job); tries += 1) {
      const attempt = await this.#begin(job, tries);
      if (attempt === undefined) return;
      const start = startOf(attempt, this.lease);
      if (start.kind === "give-up") return await this.#refuse(job, start.reason);
      if (reading.kind === "unanswered") return await this.#failUnread(reading, attempt);
      const decision = await this.#work(reading, attempt);
      if (this.#isAbandoned || !(await this.#mayTryAgain(decision))) return;
    }
  }

  /** Whether its turn has come; when not, its message has been given back. */
  async #takeTurn(job?: JobIdentity): Promise<boolean> {
    const { lease } = this;
    const { turn: turnOf = () => lease.turn, draining } = this.#parts;
    const turn = draining.aborted ? undefined : turnOf(lease, job);
    if (turn !== undefined && !(await this.#wait(turn))) return false;
    if (!draining.aborted) return true;
    await this.#leaveUnstarted();
    return false;
  }

  /** Whether it is time for another try on the same lease; when not, the job has ended. */
  async #mayTryAgain({ outcome, ending }: Decision): Promise<boolean> {
    const parts = { ...this.#parts, lease: this.lease };
    let leftMs = inPlaceDelayMs(ending, parts);
    if (leftMs === undefined) {
      await this.#end(outcome, ending);
      return false;
    }
    this.#phase = "held";
    const written = this.#attempt?.end(attemptEnding(outcome, ending));
    this.#attempt = undefined;
    [leftMs] = await Promise.all([waitInPlace(leftMs, parts), written]);
    if (this.#isAbandoned || leftMs === 0) return !this.#isAbandoned;
    if (this.lease.remainingMs() === 0) this.#noteLost();
    else await this.#end(outcome, { kind: "retry", delayMs: leftMs });
    return false;
  }

  /** Its attempt, on a lease that runs; `undefined` when nothing may be run. */
  async #begin(job: JobIdentity, tries: number): Promise<Attempt | undefined> {
    const attempt = await beginAttempt({
      ...{ lease: this.lease, job, tries, run: this.#parts },
      wait: (turn, limit) => this.#wait(turn, limit),
    });
    if (attempt === undefined) return undefined;
    const mayRun = !this.#isAbandoned && !this.#parts.draining.aborted;
    if (mayRun && this.#start()) {
      this.#attempt = attempt;
      return attempt;
    }
    await attempt.end({ kind: "uncounted" });
    if (!mayRun && !this.#isAbandoned) await this.#leaveUnstarted();
    return undefined;
  }

  /** Whether the run goes on after a wait; when not, its message has been given back. */
  async #wait(turn: Promise<Turn>, limit?: WaitLimit): Promise<boolean> {
    this.#phase = "held";
    const how = await awaitTurn(turn, { ...this.#parts, ...limit, lease: this.lease });
    if (this.#isAbandoned) return false;
    if (how === "come") return true;
    if (how === "over" && !this.#parts.draining.aborted) this.#noteLost();
    else if (how === "hold-limit") await this.#leaveUnstarted("hold-limit");
    else await this.#leaveUnstarted("unstarted", how === "too-long" ? limit?.delayMs : 0);
    return false;
  }

  async #leaveUnstarted(releaseClass: ReleaseClass = "unstarted", delayMs = 0): Promise<void> {
    this.#worked.resolve();
    this.#phase = "ending";
    await this.#finish("unstarted", { kind: "release", delayMs, class: releaseClass });
  }

  /** Whether the lease is still held; when not, nothing is run. */
  #start(): boolean {
    try {
      if (this.lease.state === "running") this.lease.assertHeld();
      else this.lease.start();
      return true;
    } catch (error) {
      if (codeOf(error) !== "LEASE_LOST") throw error;
      this.#noteLost();
      return false;
    }
  }

  #noteLost(): void {
    // No call is made: it only takes note that no run goes on.
    void this.lease.release(0, "ended");
    this.#phase = "ended";
    this.#worked.resolve();
    const settled: EndOutcome = { kind: "lost" };
    this.#ended.resolve({ outcome: "lease-lost", ending: "release", settled });
  }

  /** Its earlier attempts say that it is not to be run again. */
  async #refuse(job: JobIdentity, reason: GivenUp): Promise<void> {
    const { code, detail } = reason;
    this.#emit({ kind: "job.given-up", lease: this.lease.ref, job, reason: code, detail });
    await this.#end("dead-lettered", { kind: "dead-letter", reason });
  }

  /** Nobody knows whether its payload is right, so it counts as a failure and is tried again. */
  async #failUnread({ job, error }: Reading<"unanswered">, attempt: Attempt): Promise<void> {
    const handler = { kind: "threw", thrown: error } as const;
    const decision = decideTry(handler, attempt, { lease: this.lease, run: this.#parts });
    const figures = { attempt: attempt.number, durationMs: error.timeoutMs };
    const words = { ...figures, ...wordsOf(decision, handler) };
    this.#emit({ kind: "job.schema-timeout", lease: this.lease.ref, job, ...words });
    await this.#end(decision.outcome, decision.ending);
  }

  /** A message that is no job, or none that this worker knows. */
  async #turnAway(reading: Reading<"malformed" | "unknown">): Promise<void> {
    const { policy, clock } = this.#parts;
    const { outcome, ending, event } = turnAway(reading, this.lease, policy, clock);
    this.#emit(event);
    await this.#end(outcome, ending);
  }

  async #work({ job, definition }: Reading<"job">, attempt: Attempt): Promise<Decision> {
    const { clock, policy } = this.#parts;
    const timeoutMs = definition.timeoutMs ?? policy.jobTimeoutMs;
    const { lease } = this;
    const context = openContext({ lease, job, attempt: attempt.number, timeoutMs }, this.#parts);
    this.#context = context;
    this.#phase = "running";
    const about = { lease: lease.ref, job: identityOf(job) };
    const started = { ...about, attempt: attempt.number };
    const startedAtMs = clock.monotonicMs();
    this.#emit({ kind: "job.started", ...started, ageMs: ageOf(this.lease.message, clock, job) });
    const handler = await callHandler(() => definition.handler(job, context.forHandler()), context);
    context.close();
    const facts = { lease, run: this.#parts, context };
    const decision = this.#isAbandoned ? GIVEN_BACK : decideTry(handler, attempt, facts);
    const endedAtMs = clock.monotonicMs();
    for (const event of answersOf(about, context, decision, endedAtMs)) this.#emit(event);
    const durationMs = endedAtMs - startedAtMs;
    this.#emit({ kind: "job.ended", ...started, durationMs, ...wordsOf(decision, handler) });
    if (!this.#isAbandoned) this.#phase = "ending";
    return decision;
  }

  /** Asks the lease to end and frees the slot; how that goes is awaited by nobody's slot. */
  async #end(outcome: RunOutcome, ending: Ending): Promise<void> {
    this.#phase = "ending";
    const finished = this.#finish(outcome, ending);
    this.#worked.resolve();
    await finished;
  }

  async #finish(outcome: RunOutcome, ending: Ending): Promise<void> {
    try {
      const written = this.#attempt?.end(attemptEnding(outcome, ending));
      // The next delivery is to find it written. What is abandoned stays hidden for long enough.
      if (written !== undefined && !this.#isAbandoned) await written;
      const settled = await settle(this.lease, ending, this.#parts, this.#isAbandoned);
      await written;
      this.#phase = "ended";
      this.#ended.resolve({ outcome, ending: ending.kind, settled });
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #giveUp(fault: unknown): void {
    this.#context?.close();
    this.#phase = "ended";
    this.#worked.resolve();
    const settled: EndOutcome = { kind: "lapsing", visibleInMs: this.lease.expiresInMs() };
    this.#ended.resolve({ outcome: "unstarted", ending: "release", settled, fault });
  }

  #emit(event: JobEvent): void {
    this.#parts.onEvent(event);
  }
}
