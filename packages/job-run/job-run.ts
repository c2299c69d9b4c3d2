/** One job from its lease to its settlement. */

import type { AbortCause, JobIdentity } from "@leasehold/job";
import type { Lease, ReleaseClass, Turn } from "@leasehold/lease";
import type { Attempt, AttemptStart } from "./attempt.ts";
import { beginAttempt, startOf, type WaitLimit } from "./attempt-start.ts";
import { GIVEN_BACK, unreadEvent } from "./handler-call.ts";
import { HandlerRun } from "./handler-run.ts";
import { inPlaceDelayMs, waitInPlace } from "./in-place.ts";
import type { Decision, Ending, HandlerOutcome, RunOutcome } from "./job-ending.ts";
import { checkMessage, identityOf, type JobReading, readMessage } from "./read-job.ts";
import { RunLedger } from "./run-ledger.ts";
import type { RunEnd, RunParts, RunPhase } from "./run-parts.ts";
import { settle } from "./settlement.ts";
import { codeOf } from "./thrown.ts";
import { decideTry } from "./try-decision.ts";
import { turnAway } from "./turned-away.ts";
import { awaitTurn } from "./waiting-turn.ts";

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
  readonly #ledger: RunLedger;
  readonly #worked = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<RunEnd>();
  #phase: RunPhase = "reading";
  #job: JobIdentity | undefined;
  #work: HandlerRun | undefined;
  #isAbandoned = false;
  #hasIgnoredAbort = false;

  constructor(lease: Lease, parts: RunParts) {
    this.lease = lease;
    this.#parts = parts;
    this.#ledger = new RunLedger(lease, parts);
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
    return this.#work !== undefined;
  }

  /** Whether it was given up while its handler still ran. */
  get ignoredAbort(): boolean {
    return this.#hasIgnoredAbort;
  }

  /** Asks the handler to stop; does nothing when there is none that runs. */
  abort(cause: AbortCause): void {
    if (this.#phase === "running") this.#work?.context.abort(cause);
  }

  /**
   * Gives the lease back over the head of a handler that does not stop, or of a message that is
   * still being read. An ending that is on its way is left to arrive.
   */
  abandon(delayMs: number): void {
    if (this.#isAbandoned || this.#phase === "ending" || this.#phase === "ended") return;
    this.#isAbandoned = true;
    this.#hasIgnoredAbort = this.#phase === "running";
    if (this.ignoredAbort) this.#work?.tellIgnored();
    const outcome = this.started ? "interrupted" : "unstarted";
    // Also between two tries in place: the handler of the last one has ended.
    const overClass = this.started || this.#phase === "recording" ? "ended" : "unstarted";
    const releaseClass = this.ignoredAbort ? "ignored-abort" : overClass;
    this.#work?.context.close();
    this.#worked.resolve();
    void this.#finish(outcome, this.#ledger.givenBack(delayMs, releaseClass));
  }

  async #run(): Promise<void> {
    try {
      const { jobs, clock, policy, payloadStore, readers } = this.#parts;
      const envelope = readMessage(this.lease.message, jobs, readers);
      this.#job = envelope.kind === "malformed" ? undefined : identityOf(envelope.job);
      const reading = await checkMessage(envelope, {
        ...{ clock, jobTimeoutMs: policy.jobTimeoutMs, over: this.worked },
        ...(payloadStore && { payloadStore }),
      });
      if (reading === undefined || this.#isAbandoned) return;
      if (reading.kind === "job" || reading.kind === "unanswered") return await this.#try(reading);
      if (!(await this.#takeTurn()) || !this.#start()) return;
      const { outcome, ending, event } = turnAway(reading, this.lease, policy, clock);
      this.#parts.onEvent(event);
      await this.#end(outcome, ending);
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  /** From the job's turn to its end, by one try or, in place, by several. */
  async #try(reading: Reading<"job" | "unanswered">): Promise<void> {
    const job = identityOf(reading.job);
    for (let tries = 0; await this.#takeTurn(job); tries += 1) {
      const stop = new AbortController();
      const attempt = await this.#begin(reading, tries, stop.signal);
      if (attempt === undefined) return;
      const decision = await this.#one(reading, attempt, stop);
      if (decision === undefined || this.#isAbandoned) return;
      if (!(await this.#mayTryAgain(decision))) return;
    }
  }

  /** One try; `undefined` when its message has been settled already. */
  async #one(
    reading: Reading<"job" | "unanswered">,
    attempt: AttemptStart,
    stop: AbortController,
  ): Promise<Decision | undefined> {
    const job = identityOf(reading.job);
    if (attempt.kind !== "open") return this.#ledger.keptFrom(job, attempt);
    const start = startOf(attempt, this.lease);
    if (start.kind === "give-up") {
      return await this.#record(job, this.#ledger.refuse(job, start.reason));
    }
    if (reading.kind === "job") return await this.#call(reading, attempt, stop);
    await this.#failUnread(reading, attempt);
    return undefined;
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
    const written = this.#ledger.endAs(outcome, ending);
    [leftMs] = await Promise.all([waitInPlace(leftMs, parts), written]);
    if (this.#isAbandoned || leftMs === 0) return !this.#isAbandoned;
    if (this.lease.remainingMs() === 0) this.#noteLost();
    else await this.#end(outcome, { kind: "retry", delayMs: leftMs });
    return false;
  }

  /** Its attempt, on a lease that runs; `undefined` when nothing may be run. */
  async #begin(
    { raw, definition }: Reading<"job" | "unanswered">,
    tries: number,
    signal: AbortSignal,
  ): Promise<AttemptStart | undefined> {
    const attempt = await beginAttempt({
      ...{ lease: this.lease, raw, definition, signal, tries, run: this.#parts },
      wait: (turn, limit) => this.#wait(turn, limit),
    });
    if (attempt === undefined) return undefined;
    const isOpen = attempt.kind === "open";
    // What ends at once may end in a drain as well.
    const mayGoOn = !this.#isAbandoned && !(isOpen && this.#parts.draining.aborted);
    if (mayGoOn && this.#start()) {
      if (isOpen) this.#ledger.begin(attempt);
      return attempt;
    }
    if (isOpen) await attempt.end({ kind: "uncounted" });
    if (!mayGoOn && !this.#isAbandoned) await this.#leaveUnstarted();
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
    this.#over({ outcome: "lease-lost", ending: "release", settled: { kind: "lost" } });
  }

  /** Nobody knows whether its payload is right, so it counts as a failure and is tried again. */
  async #failUnread({ job, error }: Reading<"unanswered">, attempt: Attempt): Promise<void> {
    const handler = { kind: "threw", thrown: error } as const;
    const decided = decideTry(handler, attempt, { lease: this.lease, run: this.#parts });
    const decision = await this.#record(job, decided);
    this.#parts.onEvent(unreadEvent({ lease: this.lease.ref, job }, attempt, error, decision));
    if (!this.#isAbandoned) await this.#end(decision.outcome, decision.ending);
  }

  async #call(
    reading: Reading<"job">,
    attempt: Attempt,
    abort: AbortController,
  ): Promise<Decision> {
    const work = new HandlerRun({ lease: this.lease, reading, attempt, abort, run: this.#parts });
    const endHeartbeat = this.#ledger.keepHeartbeat();
    this.#work = work;
    this.#phase = "running";
    const handler = await work.call();
    const decision = this.#isAbandoned
      ? GIVEN_BACK
      : await this.#record(work.job, work.decide(handler), handler);
    endHeartbeat();
    work.tell(decision, handler);
    if (!this.#isAbandoned) this.#phase = "ending";
    return decision;
  }

  /** What stands once it is in the job ledger; what is only counted is written with the settlement. */
  async #record(job: JobIdentity, decided: Decision, handler?: HandlerOutcome): Promise<Decision> {
    if (!this.#ledger.mustRecord) return decided;
    this.#phase = "recording";
    const decision = await this.#ledger.record(job, decided, handler);
    return this.#isAbandoned ? GIVEN_BACK : decision;
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
      const written = this.#ledger.endAs(outcome, ending);
      // The next delivery is to find it written. What is abandoned stays hidden for long enough.
      if (written !== undefined && !this.#isAbandoned) await written;
      const settled = await settle(this.lease, ending, this.#parts, this.#isAbandoned);
      await written;
      if (settled.kind === "lost" && this.#ledger.isGarbage) await this.lease.discard();
      this.#over({ outcome, ending: ending.kind, settled });
    } catch (fault) {
      this.#giveUp(fault);
    }
  }

  #giveUp(fault: unknown): void {
    this.#work?.context.close();
    const settled = { kind: "lapsing", visibleInMs: this.lease.expiresInMs() } as const;
    this.#over({ outcome: "unstarted", ending: "release", settled, fault });
  }

  #over(end: RunEnd): void {
    this.#phase = "ended";
    this.#worked.resolve();
    this.#ended.resolve(end);
  }
}
