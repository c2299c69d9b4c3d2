/** Carries a drain out, in the order that loses nothing. */

import type { CancelTimer, Clock } from "@leasehold/clock";
import type { DrainTimings } from "@leasehold/deployment-contract";
import type { WorkerLedger } from "@leasehold/job";
import type { JobRun, RunEnd } from "@leasehold/job-run";
import type { EndOutcome, Lease, ReleaseClass } from "@leasehold/lease";
import {
  advanceDrain,
  beginDrain,
  type DrainPhase,
  type DrainState,
  ignoredAbortDelayMs,
  openPollDelayMs,
  phaseDeadlineMs,
  phasesMs,
  type SignalEffect,
  signalDrain,
} from "./drain-plan.ts";
import { type DrainedQueue, loopOf, openPollsOf, taperQueues } from "./drained-queue.ts";
import { giveBackSafely } from "./give-back.ts";
import type { HeldRuns } from "./held-runs.ts";
import { stopLedger } from "./ledger-end.ts";
import {
  type ErrorWords,
  judgeExit,
  type ShutdownCause,
  type ShutdownReport,
  type UnfinishedJob,
} from "./shutdown-report.ts";
import type { Tally, Totals } from "./tally.ts";
import type { WorkerLifeEvent, WorkerPhase } from "./worker-event.ts";

/** What a drain works with. */
export interface DrainParts {
  /** From when its deadlines count, on the monotonic clock. */
  readonly startedAtMs: number;
  readonly clock: Clock;
  readonly timings: DrainTimings;
  readonly queues: readonly DrainedQueue[];
  readonly runs: HeldRuns;
  readonly tally: Tally;
  /** Its completions are awaited in the flush, and given up after it. */
  readonly ledger: Pick<WorkerLedger, "unrecorded" | "idle" | "stop"> | undefined;
  /** Aborts at the end of the first tick: the hint to every handler. */
  readonly draining: AbortController;
  readonly exitZeroOnRelease: boolean;
  readonly onPhase: (phase: WorkerPhase) => void;
  readonly onEvent: (event: WorkerLifeEvent) => void;
  /** Takes over a lease that the source holds and nobody runs. */
  readonly onFound: (lease: Lease) => void;
}

/** Why a drain begins, and why a queue could not be reached when that is the reason. */
export interface DrainOrder {
  readonly cause: ShutdownCause;
  readonly unreachable?: ErrorWords;
}

/** One drain of one worker, from its first tick to its report. */
export class Drain {
  /** The account of it all; never rejects. */
  readonly ended: Promise<ShutdownReport>;
  readonly #parts: DrainParts;
  readonly #order: DrainOrder;
  readonly #ended = Promise.withResolvers<ShutdownReport>();
  readonly #mustRelease = new AbortController();
  readonly #startedAtWallMs: number;
  readonly #before: Totals;
  readonly #inFlightAtStart: number;
  readonly #unfinished: UnfinishedJob[] = [];
  #state: DrainState;
  #unflushed = true;
  #fault: ErrorWords | undefined;
  #forcedBy: string | undefined;
  #cancelTimer: CancelTimer = () => {};

  constructor(order: DrainOrder, parts: DrainParts) {
    this.#order = order;
    this.#parts = parts;
    this.ended = this.#ended.promise;
    const lateMs = parts.clock.monotonicMs() - parts.startedAtMs;
    this.#startedAtWallMs = parts.clock.wallMs() - lateMs;
    this.#before = parts.tally.totals;
    this.#inFlightAtStart = parts.runs.size;
    if (order.cause.kind === "fatal" && order.unreachable === undefined) {
      this.#fault = order.cause.error;
    }
    this.#state = beginDrain(parts.startedAtMs, parts.timings);
  }

  /** The first tick, all of it at once. */
  begin(): void {
    this.#firstTick();
    this.#check();
  }

  get phase(): DrainPhase {
    return this.#state.phase;
  }

  /** On the monotonic clock. */
  get drainByMs(): number {
    return this.#state.deadlines.drainByMs;
  }

  /** Unix time of the deadline and of the platform's kill. */
  get wallDeadlines(): { readonly drainByMs: number; readonly killAtMs: number } {
    const { clock } = this.#parts;
    const { drainByMs, killAtMs } = this.#state.deadlines;
    const offsetMs = clock.wallMs() - clock.monotonicMs();
    return { drainByMs: drainByMs + offsetMs, killAtMs: killAtMs + offsetMs };
  }

  signal(name: string): SignalEffect {
    if (this.phase === "exited") return "ignored";
    const { clock, timings, onEvent } = this.#parts;
    const nowMs = clock.monotonicMs();
    const sinceLastMs = nowMs - (this.#state.lastSignalAtMs ?? nowMs);
    const before = this.#state;
    const { state, effect } = signalDrain(before, name, nowMs, timings);
    if (effect === "ignored") {
      onEvent({ kind: "drain.signal-ignored", signal: name, sinceLastMs });
    }
    if (effect === "force-exit") this.#forcedBy = name;
    this.#move(state, name);
    this.#check();
    return effect;
  }

  /** Notes a fault that came while the drain goes on. */
  fault(error: ErrorWords): void {
    this.#fault ??= error;
  }

  /** A run has ended, or a poll. */
  workChanged(): void {
    this.#check();
  }

  /** A run has ended: notes it for the report when its job did not end as a job should. */
  note(run: JobRun, end: RunEnd): void {
    const unfinished = this.#parts.runs.unfinished(run, end);
    if (unfinished !== undefined && this.phase !== "exited") this.#unfinished.push(unfinished);
  }

  /** Gives a lease back as soon as that is safe, and when there is no time left as well as can be. */
  giveBack(lease: Lease, delayMs: number, releaseClass: ReleaseClass): Promise<EndOutcome> {
    const polls = loopOf(this.#parts.queues, lease);
    return giveBackSafely(lease, { delayMs, releaseClass }, polls, this.#mustRelease.signal);
  }

  /** Flag and readiness, sleepers, the account of what is in flight, the taper, the hint. */
  #firstTick(): void {
    const { queues, onPhase, draining, runs, onEvent } = this.#parts;
    onPhase("draining");
    for (const { loop } of queues) loop.stop();
    const openPolls = openPollsOf(this.#parts.queues);
    const inFlight = runs.size;
    const { cause } = this.#order;
    onEvent({ kind: "drain.started", cause, inFlight, openPolls, ...this.wallDeadlines });
    for (const job of runs.inFlight()) onEvent({ kind: "drain.in-flight", ...job });
    // Open polls are left to end: an aborted one may still be answered, to nobody.
    void this.#taper();
    draining.abort();
  }

  async #taper(): Promise<void> {
    const { queues, onEvent } = this.#parts;
    const { taperAtMs } = this.#state.deadlines;
    const { tapered: leases, refused } = await taperQueues(queues, taperAtMs);
    if (leases + refused > 0) onEvent({ kind: "drain.tapered", leases, refused });
  }

  /** Goes on as far as possible, and asks again at the next deadline. */
  #check(): void {
    this.#cancelTimer();
    this.#adoptStrays();
    for (;;) {
      const nowMs = this.#parts.clock.monotonicMs();
      const next = advanceDrain(this.#state, nowMs, this.#left());
      if (next === this.#state) break;
      const isEscalation = next.phase === "aborting" || next.phase === "releasing";
      this.#move(next, isEscalation ? `the deadline for ${this.phase} has passed` : undefined);
    }
    const deadlineMs = phaseDeadlineMs(this.#state);
    if (deadlineMs === undefined) return;
    const delayMs = deadlineMs - this.#parts.clock.monotonicMs();
    this.#cancelTimer = this.#parts.clock.schedule(delayMs, () => this.#check());
  }

  #left() {
    const held = this.#parts.runs.size;
    return { held, openPolls: openPollsOf(this.#parts.queues), unflushed: this.#unflushed };
  }

  /** Messages that waited in the source for their former run to end, and that no poll brings now. */
  #adoptStrays(): void {
    if (this.phase === "exited") return;
    const { queues, runs, onFound } = this.#parts;
    for (const lease of queues.flatMap(({ source }) => source.held())) {
      if (!runs.has(lease)) onFound(lease);
    }
  }

  #move(next: DrainState, why: string | undefined): void {
    const hasChanged = next.phase !== this.#state.phase;
    this.#state = next;
    if (!hasChanged) return;
    const { onPhase, onEvent } = this.#parts;
    onPhase(next.phase);
    if (why !== undefined) onEvent({ kind: "drain.escalated", to: next.phase, why });
    this.#act(next.phase);
  }

  #act(phase: DrainPhase): void {
    if (phase === "aborting" || phase === "releasing") this.#abortRuns();
    if (phase === "releasing") this.#releaseRest();
    if (phase === "flushing") void this.#flush();
    if (phase === "exited") this.#exit();
  }

  #abortRuns(): void {
    for (const run of this.#parts.runs.all) run.abort("drain-deadline");
  }

  /** Endings that are on their way are left to arrive; the rest is given back over its handler's head. */
  #releaseRest(): void {
    const { runs, clock } = this.#parts;
    this.#mustRelease.abort();
    const nowMs = clock.monotonicMs();
    for (const run of runs.all) {
      const pollRestMs = loopOf(this.#parts.queues, run.lease).pollRestMs;
      const unstartedMs = pollRestMs > 0 ? openPollDelayMs(pollRestMs) : 0;
      run.abandon(run.started ? ignoredAbortDelayMs(this.#state, nowMs) : unstartedMs);
    }
  }

  async #flush(): Promise<void> {
    this.#mustRelease.abort();
    const { queues, ledger } = this.#parts;
    await Promise.all([...queues.map(({ source }) => source.flush()), ledger?.idle()]);
    this.#unflushed = false;
    this.#check();
  }

  #exit(): void {
    const { queues, runs, clock, tally, ledger } = this.#parts;
    this.#cancelTimer();
    this.#mustRelease.abort();
    const pollsLeft = queues.flatMap(({ loop }) =>
      Array<string>(loop.openPolls).fill(loop.queueName),
    );
    for (const { loop } of queues) loop.abandonPolls();
    const unfinished = [...this.#unfinished, ...runs.leftBehind()];
    for (const { source } of queues) source.close();
    const { acked, retried, deadLettered, released, lapsing, lost } = tally.since(this.#before);
    const report: ShutdownReport = {
      cause: this.#order.cause,
      ...judgeExit(this.#exitFacts(unfinished, pollsLeft)),
      startedAtMs: this.#startedAtWallMs,
      endedAtMs: clock.wallMs(),
      phasesMs: phasesMs(this.#state, clock.monotonicMs()),
      unfinished,
      totals: {
        inFlightAtStart: this.#inFlightAtStart,
        ...{ acked, retried, deadLettered, released, lapsing, lost },
        pollsLeft: pollsLeft.length,
      },
      ...(pollsLeft.length === 0 ? {} : { queuesWithPollsLeft: [...new Set(pollsLeft)] }),
    };
    const told = stopLedger(ledger, clock);
    if (told === undefined) this.#finish(report);
    else void told.then(() => this.#finish(report));
  }

  #finish(report: ShutdownReport): void {
    this.#parts.onEvent({ kind: "drain.finished", report });
    this.#ended.resolve(report);
  }

  #exitFacts(unfinished: readonly UnfinishedJob[], pollsLeft: readonly string[]) {
    const { unreachable } = this.#order;
    const { exitZeroOnRelease } = this.#parts;
    return {
      ...(this.#forcedBy === undefined ? {} : { forcedBy: this.#forcedBy }),
      ...(this.#fault === undefined ? {} : { fault: this.#fault }),
      ...(unreachable === undefined ? {} : { unreachable }),
      ...{ unfinished, pollsLeft, exitZeroOnRelease },
    };
  }
}
