/** Keeps ECS from choosing a busy task when it scales in or deploys. */

import { type CancelTimer, type Clock, systemClock } from "@leasehold/clock";
import type { Worker } from "@leasehold/worker";
import { askEcsAgent, type ProtectionAnswer } from "./ecs-agent.ts";
import { watchLeases } from "./lease-watch.ts";
import {
  type ProtectionMove,
  type ProtectionState,
  type ProtectionTimes,
  planProtection,
} from "./protection-plan.ts";

/** What protection is made of. */
export interface TaskProtectionOptions {
  /** As ECS injects it into every container, `ECS_AGENT_URI`. */
  readonly agentUri: string;
  /** How long protection lasts without a renewal: the contract's `taskProtectionMinutes`. */
  readonly minutes: number;
  /**
   * How long nothing must be held before protection is given up, so that a worker of short jobs
   * does not call for each of them.
   * @defaultValue 15_000
   */
  readonly idleMs?: number;
  /**
   * After how much protection without a break a worker that is never idle goes without it for
   * `breatherMs`. A deployment waits for all protected tasks, and CloudFormation gives it up after
   * three hours. Jobs longer than this may be interrupted by a deployment.
   * @defaultValue as long as `minutes`, but 30 minutes at least and two hours at most
   */
  readonly breatherEveryMs?: number;
  /** Long enough for the scheduler of ECS to see it. @defaultValue 60_000 */
  readonly breatherMs?: number;
  /** Hears how each call went. */
  readonly onReport?: (report: TaskProtectionReport) => void;
  /** @defaultValue the system's */
  readonly clock?: Clock;
}

/** How a call went. */
export type TaskProtectionReport =
  | {
      readonly kind: "protection.set";
      readonly why: "busy" | "renewal";
      readonly minutes: number;
      /** As ECS says it. */
      readonly expiresAt?: string;
    }
  | { readonly kind: "protection.cleared"; readonly why: "idle" | "drain" | "breather" }
  | {
      readonly kind: "protection.failed";
      /** What was asked for. */
      readonly wanted: "set" | "clear";
      readonly why: Call["why"];
      readonly code: string;
      readonly message: string;
      /** Unless something else is wanted by then. */
      readonly retryInMs: number;
    };

/** Protection that follows a worker. */
export interface TaskProtection {
  /** Follows it no longer; a call on its way is given up. Protection itself ends with the task. */
  close(): void;
}

/** A call that stays unanswered for longer is given up. */
const CALL_TIMEOUT_MS = 2_000;
/**
 * Before a failed call is followed by another. The agent gives a call to ECS four seconds, so one
 * that was given up after two is over when the next one leaves, and cannot overtake it.
 */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;
const MINUTE_MS = 60_000;
const BREATHER_EVERY = { minMs: 30 * MINUTE_MS, maxMs: 120 * MINUTE_MS };

type Call = Exclude<ProtectionMove, { readonly kind: "wait" }>;

/**
 * Protects this ECS task while the worker holds leases.
 *
 * Set with the first lease, renewed at half its time, cleared when nothing was held for a while and
 * at the first tick of a drain. All of it is best effort: no job waits for it or fails by it, and
 * what has failed is tried again with growing pauses for as long as it is wanted. One call is in
 * flight at a time; what is wanted when it ends decides the next one.
 */
export function protectTask(
  worker: Pick<Worker, "onEvent">,
  options: TaskProtectionOptions,
): TaskProtection {
  return new WorkerProtection(worker, options);
}

class WorkerProtection implements TaskProtection {
  readonly #options: TaskProtectionOptions;
  readonly #times: ProtectionTimes & { readonly breatherMs: number };
  readonly #clock: Clock;
  readonly #stopWatching: () => void;
  #state: ProtectionState;
  #inFlight: AbortController | undefined;
  #cancelStep: CancelTimer | undefined;
  #failures = 0;
  #notBeforeAtMs = Number.NEGATIVE_INFINITY;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(worker: Pick<Worker, "onEvent">, options: TaskProtectionOptions) {
    const { minutes, idleMs = 15_000, breatherMs = MINUTE_MS, clock = systemClock } = options;
    const lastsMs = minutes * MINUTE_MS;
    const { minMs, maxMs } = BREATHER_EVERY;
    const { breatherEveryMs = Math.min(maxMs, Math.max(minMs, lastsMs)) } = options;
    this.#options = options;
    this.#times = { idleMs, breatherEveryMs, breatherMs, renewEveryMs: lastsMs / 2 };
    this.#clock = clock;
    this.#state = {
      ...{ isBusy: false, isDraining: false },
      ...{ idleSinceAtMs: clock.monotonicMs(), breatherUntilMs: Number.NEGATIVE_INFINITY },
    };
    this.#stopWatching = watchLeases(worker, {
      onBusy: (isBusy) => this.#onBusy(isBusy),
      onDrain: () => this.#onDrain(),
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
    this.#cancelStep?.();
    this.#inFlight?.abort();
  }

  #onBusy(isBusy: boolean): void {
    this.#state = { ...this.#state, isBusy, idleSinceAtMs: this.#clock.monotonicMs() };
    this.#step();
  }

  /** A drain has little time left: only what a late answer needs is still waited for. */
  #onDrain(): void {
    this.#state = { ...this.#state, isDraining: true };
    this.#failures = 0;
    this.#notBeforeAtMs = Math.min(this.#notBeforeAtMs, this.#endedAtMs + FIRST_PAUSE_MS);
    this.#step();
  }

  #step(): void {
    if (this.#isClosed || this.#inFlight !== undefined) return;
    this.#cancelStep?.();
    this.#cancelStep = undefined;
    const nowMs = this.#clock.monotonicMs();
    const move = planProtection(this.#state, this.#times, nowMs);
    if (move.kind === "wait") this.#stepAt(move.untilAtMs);
    else if (nowMs < this.#notBeforeAtMs) this.#stepAt(this.#notBeforeAtMs);
    else void this.#call(move);
  }

  #stepAt(atMs: number | undefined): void {
    if (atMs === undefined) return;
    const delayMs = atMs - this.#clock.monotonicMs();
    this.#cancelStep = this.#clock.schedule(delayMs, () => this.#step());
  }

  async #call(call: Call): Promise<void> {
    const { agentUri, minutes } = this.#options;
    const controller = new AbortController();
    this.#inFlight = controller;
    const sentAtMs = this.#clock.monotonicMs();
    const cancelTimeout = this.#clock.schedule(CALL_TIMEOUT_MS, () => controller.abort());
    const request = { enabled: call.kind === "set", minutes };
    const answer = await askEcsAgent(agentUri, request, controller.signal);
    cancelTimeout();
    this.#inFlight = undefined;
    if (this.#isClosed) return;
    this.#endedAtMs = this.#clock.monotonicMs();
    if (answer.kind === "done") this.#confirm(call, sentAtMs, answer.expiresAt);
    else this.#fail(call, sentAtMs, answer);
    this.#step();
  }

  #confirm(call: Call, sentAtMs: number, expiresAt: string | undefined): void {
    this.#failures = 0;
    const { maybeOnSinceAtMs = sentAtMs, confirmedAtMs: _, ...rest } = this.#state;
    if (call.kind === "set") {
      this.#state = { ...rest, maybeOnSinceAtMs, confirmedAtMs: sentAtMs };
      const { minutes } = this.#options;
      const expiry = expiresAt === undefined ? {} : { expiresAt };
      this.#report({ kind: "protection.set", why: call.why, minutes, ...expiry });
    } else {
      const breatherUntilMs = this.#endedAtMs + this.#times.breatherMs;
      this.#state = { ...rest, ...(call.why === "breather" ? { breatherUntilMs } : {}) };
      this.#report({ kind: "protection.cleared", why: call.why });
    }
  }

  #fail(
    { kind, why }: Call,
    sentAtMs: number,
    { code, message, mayHaveTakenEffect }: Extract<ProtectionAnswer, { kind: "failed" }>,
  ): void {
    const retryInMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#notBeforeAtMs = this.#endedAtMs + retryInMs;
    if (mayHaveTakenEffect) this.#doubt(kind, sentAtMs);
    this.#report({ kind: "protection.failed", wanted: kind, why, code, message, retryInMs });
  }

  /** Neither surely on nor surely off: whatever is wanted next must be asked for. */
  #doubt(kind: Call["kind"], sentAtMs: number): void {
    const { maybeOnSinceAtMs = sentAtMs, confirmedAtMs, ...rest } = this.#state;
    const isStillOn = kind === "set" && confirmedAtMs !== undefined;
    this.#state = { ...rest, maybeOnSinceAtMs, ...(isStillOn ? { confirmedAtMs } : {}) };
  }

  #report(report: TaskProtectionReport): void {
    try {
      this.#options.onReport?.(report);
    } catch {
      // A listener's fault is its own; protection must not end by it.
    }
  }
}
