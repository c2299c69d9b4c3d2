/** Builds the context of one run from its lease and its deadlines, and aborts it with a reason. */

import type { Clock } from "@leasehold/clock";
import {
  type AbortCause,
  type ChildJob,
  type ControlOutcomeError,
  childJobId,
  type Done,
  type Job,
  JobAbortedError,
  type JobCheckpoint,
  type JobContext,
  type JobLog,
  type JobSender,
  type LogFields,
  type Once,
  type OpenJob,
  type SentChild,
} from "@leasehold/job";
import type { Lease } from "@leasehold/lease";
import { LedgerMissingError, SenderMissingError } from "./errors.ts";
import { hear } from "./hear.ts";
import { identityOf } from "./read-job.ts";
import type { RunParts } from "./run-parts.ts";

/** What a context is made of. */
export interface ContextParts {
  readonly clock: Clock;
  readonly lease: Lease;
  readonly job: Job;
  readonly attempt: number;
  readonly timeoutMs: number;
  /** Of the handler's signal; the job was opened in its ledger with it. @defaultValue its own */
  readonly abort?: AbortController;
  /** The job as it is open in its ledger. @defaultValue there is none, and effects are refused */
  readonly effects?: OpenJob;
  /** Aborts when the drain begins. Lives as long as the worker, so no handler ever sees it. */
  readonly draining: AbortSignal;
  /** On the monotonic clock; `undefined` before the drain. */
  readonly drainByMs: () => number | undefined;
  readonly sender?: JobSender;
  readonly onLog: (level: keyof JobLog, message: string, fields: LogFields) => void;
  readonly onAbort: (cause: AbortCause) => void;
}

/**
 * The context of one run. `close` ends its timers and listeners; what the handler keeps of it
 * afterwards is inert.
 */
export class RunContext {
  readonly #parts: ContextParts;
  readonly #abort: AbortController;
  readonly #draining = new AbortController();
  readonly #said = new WeakSet<object>();
  readonly #timeoutAtMs: number;
  readonly #close: readonly (() => void)[];
  #signalWasRead = false;
  #abortedAtMs: number | undefined;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    const { clock, lease, timeoutMs, draining, effects } = parts;
    this.#abort = parts.abort ?? new AbortController();
    this.#timeoutAtMs = clock.monotonicMs() + timeoutMs;
    this.#close = [
      clock.schedule(timeoutMs, () => this.abort("job-timeout")),
      clock.schedule(lease.holdRemainingMs(), () => this.abort("hold-limit")),
      hear(lease.lost, () => this.abort("lease-lost", lease.lost.reason)),
      hear(draining, () => this.#draining.abort(draining.reason)),
      ...(effects === undefined ? [] : [hear(effects.stopped, () => this.#stop(effects))]),
    ];
  }

  /** Why the handler was asked to stop; a lost lease outweighs what came before it. */
  get abortCause(): AbortCause | undefined {
    if (this.#parts.lease.lost.aborted) return "lease-lost";
    const reason: unknown = this.#abort.signal.reason;
    return reason instanceof JobAbortedError ? reason.abortCause : undefined;
  }

  get abortReason(): unknown {
    return this.#abort.signal.reason;
  }

  /** When the signal aborted, on the monotonic clock. */
  get abortedAtMs(): number | undefined {
    return this.#abortedAtMs;
  }

  get signalWasRead(): boolean {
    return this.#signalWasRead;
  }

  /** Asks the handler to stop. The first cause stands. */
  abort(cause: AbortCause, why?: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.#abortedAtMs = this.#parts.clock.monotonicMs();
    this.#parts.onAbort(cause);
    this.#abort.abort(new JobAbortedError(cause, why === undefined ? {} : { cause: why }));
  }

  /** Whether a handler's result was made by this run's `done`. */
  isDone(value: unknown): boolean {
    return typeof value === "object" && value !== null && this.#said.has(value);
  }

  close(): void {
    for (const end of this.#close) end();
  }

  /** What the handler is given. A plain object, so that a copy of it works as well. */
  forHandler(): JobContext {
    const { lease, job, attempt } = this.#parts;
    const readSignal = () => {
      this.#signalWasRead = true;
      return this.#abort.signal;
    };
    return {
      tenantId: job.tenantId,
      jobId: job.jobId,
      jobType: job.jobType,
      attempt,
      receiveCount: lease.message.receiveCount,
      message: { ...lease.message, queue: lease.ref.queue },
      get signal() {
        return readSignal();
      },
      draining: this.#draining.signal,
      lease: { remainingMs: () => lease.remainingMs(), assertHeld: () => lease.assertHeld() },
      remainingMs: () => this.#remainingMs(),
      once: this.#parts.effects?.once ?? refuseOnce,
      checkpoint: this.#parts.effects?.checkpoint ?? NO_CHECKPOINT,
      send: (name, child) => this.#send(name, child),
      done: (result) => this.#done(result),
      log: this.#log(),
    };
  }

  /** The job has come to an end in its ledger, whatever its handler makes of it. */
  #stop({ outcome, stopped }: OpenJob): void {
    const cause = outcome?.kind === "cancelled" ? "cancelled" : "stopped";
    this.abort(cause, stopped.reason as ControlOutcomeError);
  }

  #remainingMs(): number {
    const { clock, lease, drainByMs } = this.#parts;
    const nowMs = clock.monotonicMs();
    const drainAtMs = drainByMs() ?? Number.POSITIVE_INFINITY;
    const untilMs = Math.min(this.#timeoutAtMs, drainAtMs) - nowMs;
    return Math.max(0, Math.min(untilMs, lease.holdRemainingMs()));
  }

  #done<Result>(result: Result): Done<Result> {
    const done: Done<Result> = Object.freeze({ kind: "done", result });
    this.#said.add(done);
    return done;
  }

  async #send(name: string, child: ChildJob): Promise<SentChild> {
    const { sender, lease, job } = this.#parts;
    if (sender === undefined) throw new SenderMissingError();
    // Another worker may be at this job already; it will send the child itself.
    lease.assertHeld();
    return sender.sendJob({
      type: child.type,
      payload: child.payload,
      tenantId: child.tenantId ?? job.tenantId,
      jobId: child.jobId ?? childJobId(identityOf(job), name),
      delayMs: child.delayMs ?? 0,
    });
  }

  #log(): JobLog {
    const at =
      (level: keyof JobLog) =>
      (message: string, fields: LogFields = {}) =>
        this.#parts.onLog(level, message, fields);
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }
}

const refuseOnce: Once = async () => {
  throw new LedgerMissingError("context.once");
};

const NO_CHECKPOINT: JobCheckpoint = Object.freeze({
  load: () => {
    throw new LedgerMissingError("context.checkpoint");
  },
  save: async () => {
    throw new LedgerMissingError("context.checkpoint");
  },
});

/** The context of one try, which reports to the run's listener. */
export function openContext(
  one: Pick<ContextParts, "lease" | "job" | "attempt" | "timeoutMs" | "abort" | "effects">,
  run: Pick<RunParts, "clock" | "draining" | "drainByMs" | "sender" | "onEvent">,
): RunContext {
  const { clock, draining, drainByMs, sender, onEvent } = run;
  const about = { lease: one.lease.ref, job: identityOf(one.job) };
  return new RunContext({
    ...{ ...one, clock, draining, drainByMs },
    ...(sender === undefined ? {} : { sender }),
    onLog: (level, message, fields) =>
      onEvent({ kind: "job.log", ...about, level, message, fields }),
    onAbort: (cause) => onEvent({ kind: "job.aborted", ...about, cause }),
  });
}
