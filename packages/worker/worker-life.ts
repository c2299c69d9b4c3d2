/** One worker while it lives: wires claims, runs and drain, and reports all they do. */

import { randomUUID } from "node:crypto";
import type { Clock } from "@leasehold/clock";
import { type WorkerTimings, workerTimings } from "@leasehold/deployment-contract";
import { describeThrown, type JobEvent, JobRun, type RunParts } from "@leasehold/job-run";
import { type Lease, type LeaseEvent, type LeaseQueue, openLeaseSource } from "@leasehold/lease";
import { type ClaimGivenUp, ClaimLoop } from "./claim-loop.ts";
import { Drain, type DrainOrder } from "./drain.ts";
import type { SignalEffect } from "./drain-plan.ts";
import type { DrainedQueue } from "./drained-queue.ts";
import { HeldRuns } from "./held-runs.ts";
import { LedgerBreaker } from "./ledger-breaker.ts";
import { Listeners, type WorkerListener } from "./listeners.ts";
import { LoopPulse } from "./loop-pulse.ts";
import { MemoryGuard } from "./memory-guard.ts";
import { type ResolvedWorkerOptions, resolveWorkerOptions } from "./options.ts";
import { PollSize } from "./poll-size.ts";
import { wireRuns } from "./run-wiring.ts";
import type { ShutdownCause, ShutdownReport } from "./shutdown-report.ts";
import { type SlotShare, SlotShares } from "./slot-shares.ts";
import { Slots } from "./slots.ts";
import { takeSnapshot } from "./snapshot-taker.ts";
import { StartGate } from "./start-gate.ts";
import { Tally } from "./tally.ts";
import { capsOf, inPlaceOf, leaseOptionsOf, pollTimingsOf } from "./timings-use.ts";
import type { WorkerEvent, WorkerPhase } from "./worker-event.ts";
import { type WorkerParts, warningsOf } from "./worker-parts.ts";
import type { WorkerSnapshot } from "./worker-snapshot.ts";

interface WorkedQueue extends DrainedQueue {
  readonly run: RunParts;
}

/** The worker behind `createWorker`. */
export class WorkerLife {
  readonly ended: Promise<ShutdownReport>;
  readonly #parts: WorkerParts;
  readonly #clock: Clock;
  readonly #options: ResolvedWorkerOptions;
  readonly #timings: WorkerTimings;
  readonly #workerId: string;
  readonly #startedAtMs: number;
  readonly #listeners = new Listeners();
  readonly #tally = new Tally();
  readonly #runs: HeldRuns;
  readonly #slots: Slots;
  readonly #shares: SlotShares;
  readonly #gate: StartGate;
  readonly #memory: MemoryGuard;
  readonly #breaker: LedgerBreaker;
  readonly #pulse: LoopPulse;
  readonly #queues: readonly WorkedQueue[];
  readonly #draining = new AbortController();
  readonly #unreached: Set<string>;
  readonly #started = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<ShutdownReport>();
  #phase: WorkerPhase = "booting";
  #isStarted = false;
  #isPauseWanted = false;
  #drain: Drain | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.#options = resolveWorkerOptions(parts.options);
    this.#timings = workerTimings(parts.contract);
    this.#workerId = parts.workerId ?? `worker-${randomUUID().slice(0, 8)}`;
    this.#startedAtMs = parts.clock.wallMs();
    this.#runs = new HeldRuns(parts.clock);
    this.#slots = new Slots(this.#timings.job.concurrency, parts.clock);
    this.#shares = new SlotShares(this.#slots, parts.clock);
    this.#gate = new StartGate({
      slots: this.#slots,
      maxPerTenant: this.#options.maxPerTenant,
      maxPerType: capsOf(parts.jobs),
      holdLimit: this.#timings.job.holdLimit,
      onEvent: (event) => this.#emit(event),
    });
    const { clock, ledger, memoryUse: read = () => undefined } = parts;
    const onEvent = (event: WorkerEvent) => this.#emit(event);
    const share = this.#options.memoryGuardShare;
    this.#memory = new MemoryGuard({ clock, share, read, onEvent });
    const onBack = () => this.#considerAll();
    this.#breaker = new LedgerBreaker({ clock, ledger, onEvent, onBack });
    this.#pulse = new LoopPulse(parts.clock, () => this.#onBeat());
    this.#queues = parts.queues.map((queue) => this.#openQueue(queue));
    this.#unreached = new Set(parts.queues.map(({ name }) => name));
    this.ended = this.#ended.promise;
  }

  start(): Promise<void> {
    if (this.#isStarted || this.#drain !== undefined) return this.#started.promise;
    this.#isStarted = true;
    for (const { rule, message, mend } of warningsOf(this.#parts)) {
      this.#emit({ kind: "worker.contract-warning", rule, message, mend });
    }
    this.#pulse.start();
    for (const { loop } of this.#queues) loop.start();
    return this.#started.promise;
  }

  pause(): void {
    if (this.#drain !== undefined) return;
    this.#isPauseWanted = true;
    for (const { loop } of this.#queues) loop.pause();
    if (this.#phase === "ready") this.#enter("paused");
  }

  resume(): void {
    if (this.#drain !== undefined) return;
    this.#isPauseWanted = false;
    if (this.#phase === "paused") this.#enter("ready");
    for (const { loop } of this.#queues) loop.resume();
  }

  drain(cause: ShutdownCause): Promise<ShutdownReport> {
    if (cause.kind === "fatal") {
      this.#emit({ kind: "worker.fatal", error: cause.error });
      this.#drain?.fault(cause.error);
    }
    this.#beginDrain({ cause });
    return this.ended;
  }

  signal(name: string): SignalEffect {
    return this.#beginDrain({ cause: { kind: "signal", signal: name } }).signal(name);
  }

  snapshot(): WorkerSnapshot {
    return takeSnapshot({
      workerId: this.#workerId,
      service: this.#parts.contract.service,
      version: this.#parts.version ?? "unknown",
      phase: this.#phase,
      startedAtMs: this.#startedAtMs,
      slots: this.#slots,
      queues: this.#queues,
      runs: this.#runs,
      totals: this.#tally.totals,
      outage: this.#breaker.reason,
      ...this.#drain?.wallDeadlines,
    });
  }

  onEvent(listener: WorkerListener): () => void {
    return this.#listeners.add(listener);
  }

  #openQueue(queue: LeaseQueue): WorkedQueue {
    const { clock, random = Math.random, extenderThread } = this.#parts;
    const { lease, receive, claimLingerMs } = this.#timings;
    const timings = receive.find(({ queueName }) => queueName === queue.name);
    if (timings === undefined) throw new Error(`no timings for queue ${queue.name}`);
    const source = openLeaseSource({
      ...{ queue, clock, random },
      ...(extenderThread === undefined ? {} : { extenderThread }),
      options: leaseOptionsOf(lease, timings),
      onEvent: (event) => this.#onLeaseEvent(event),
    });
    const loop = new ClaimLoop({
      ...{ clock, source, shares: this.#shares, random },
      ...pollTimingsOf(timings),
      lingerMs: claimLingerMs,
      pollSize: new PollSize({ clock, ...timings }),
      patienceMs: this.#options.claimPatienceMs,
      isMemoryShort: () => this.#memory.isShort,
      isLedgerDown: () => this.#breaker.isDown,
      crowdOf: (share) => this.#gate.crowdOf(share),
      onLeases: (leases, share) => this.#onLeases(leases, worked, share),
      onEvent: (event) => this.#emit(event),
      onReached: () => this.#onReached(queue.name),
      onGivenUp: (failure) => this.#onGivenUp(failure),
      onPollEnd: () => this.#drain?.workChanged(),
    });
    const runs = wireRuns({
      ...{ worker: this.#parts, timings: this.#timings, gate: this.#gate, loop },
      draining: this.#draining.signal,
      drain: () => this.#drain,
      onEvent: (event) => this.#onJobEvent(event),
    });
    const run = { ...runs, ...inPlaceOf(lease, timings) };
    const worked: WorkedQueue = { source, loop, run };
    return worked;
  }

  #onLeases(leases: readonly Lease[], queue: WorkedQueue, share: SlotShare): void {
    for (const lease of leases) {
      if (this.#drain !== undefined) {
        this.#emit({ kind: "drain.late-arrival", lease: lease.ref });
      }
      this.#gate.arrive(lease, share);
      void this.#work(lease, queue.run).then(() => this.#gate.leave(lease));
    }
  }

  /** Runs a lease; resolves when its slot is free. */
  async #work(lease: Lease, parts: RunParts): Promise<void> {
    const run = new JobRun(lease, parts);
    this.#runs.add(run);
    void this.#awaitEnd(run);
    // FIFO: once its ending is confirmed the slot is for the next one of its group.
    await (parts.inPlaceMs === undefined ? run.worked : run.ended);
  }

  async #awaitEnd(run: JobRun): Promise<void> {
    const end = await run.ended;
    this.#runs.remove(run);
    this.#drain?.note(run, end);
    if (end.fault !== undefined) {
      void this.drain({ kind: "fatal", error: describeThrown(end.fault) });
    }
    // An ack has arrived, which may be what the claims of its queue were waiting for.
    this.#considerAll();
    this.#drain?.workChanged();
  }

  /** A lease that waited in its source for the former run of its message, found by the drain. */
  #onFound(lease: Lease): void {
    const queue = this.#queues.find(({ loop }) => loop.queueName === lease.ref.queue);
    if (queue !== undefined) void this.#work(lease, queue.run);
  }

  #onBeat(): void {
    for (const { loop } of this.#queues) loop.watch();
    if (this.#memory.hasEased()) this.#considerAll();
  }

  #considerAll(): void {
    for (const { loop } of this.#queues) loop.consider();
  }

  #onReached(queueName: string): void {
    this.#unreached.delete(queueName);
    if (this.#unreached.size > 0 || this.#phase !== "booting") return;
    const queues = this.#queues.map(({ loop }) => loop.queueName);
    this.#enter("ready");
    this.#emit({ kind: "worker.ready", queues, concurrency: this.#slots.total });
    if (this.#isPauseWanted) this.#enter("paused");
    this.#started.resolve();
  }

  #onGivenUp({ error, atStart }: ClaimGivenUp): void {
    const words = describeThrown(error);
    this.#emit({ kind: "worker.fatal", error: words });
    const cause: ShutdownCause = { kind: "fatal", error: words };
    this.#beginDrain(atStart ? { cause, unreachable: words } : { cause });
  }

  #beginDrain(order: DrainOrder): Drain {
    if (this.#drain !== undefined) return this.#drain;
    const isSignalled = order.cause.kind === "signal" && this.#isStarted;
    const drain = new Drain(order, {
      startedAtMs: isSignalled ? this.#pulse.earliestSignalAtMs() : this.#clock.monotonicMs(),
      clock: this.#clock,
      timings: this.#timings.drain,
      queues: this.#queues,
      runs: this.#runs,
      tally: this.#tally,
      ledger: this.#parts.ledger,
      draining: this.#draining,
      exitZeroOnRelease: this.#options.exitZeroOnRelease,
      onPhase: (phase) => this.#enter(phase),
      onEvent: (event) => this.#emit(event),
      onFound: (lease) => this.#onFound(lease),
    });
    this.#drain = drain;
    this.#breaker.stop();
    void drain.ended.then((report) => {
      this.#pulse.stop();
      this.#ended.resolve(report);
    });
    drain.begin();
    this.#started.resolve();
    return drain;
  }

  #enter(phase: WorkerPhase): void {
    const from = this.#phase;
    this.#phase = phase;
    this.#emit({ kind: "worker.phase", phase, from });
  }

  #onLeaseEvent(event: LeaseEvent): void {
    this.#tally.count(event);
    this.#runs.note(event);
    const job = "lease" in event ? this.#runs.jobOf(event.lease) : undefined;
    this.#emit(job === undefined ? event : { ...event, job });
  }

  #onJobEvent(event: JobEvent): void {
    this.#emit(event);
    this.#breaker.hear(event);
  }

  #emit(event: WorkerEvent | JobEvent): void {
    this.#listeners.emit(event);
  }
}
