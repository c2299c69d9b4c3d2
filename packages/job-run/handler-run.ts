/** One call of a handler, with what is told before and after it. */

import type { JobIdentity, OpenJob } from "@leasehold/job";
import type { Lease } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import { EffectLeftOpenError } from "./errors.ts";
import { answersOf, callHandler, wordsOf } from "./handler-call.ts";
import type { Decision, HandlerOutcome } from "./job-ending.ts";
import { ageOf, identityOf, type JobReading } from "./read-job.ts";
import { openContext, type RunContext } from "./run-context.ts";
import type { RunParts } from "./run-parts.ts";
import { decideTry } from "./try-decision.ts";

/** What is called, on which lease, as which attempt. */
export interface HandlerRunParts {
  readonly lease: Lease;
  readonly reading: Extract<JobReading, { readonly kind: "job" }>;
  readonly attempt: Attempt;
  /** Of the handler's signal. */
  readonly abort: AbortController;
  readonly run: RunParts;
}

/** The handler of one try. */
export class HandlerRun {
  readonly context: RunContext;
  readonly job: JobIdentity;
  readonly #parts: HandlerRunParts;
  readonly #startedAtMs: number;
  #endedAtMs = 0;

  constructor(parts: HandlerRunParts) {
    const { lease, reading, attempt, abort, run } = parts;
    const { job, definition } = reading;
    const timeoutMs = definition.timeoutMs ?? run.policy.jobTimeoutMs;
    const effects = attempt.effects === undefined ? {} : { effects: attempt.effects };
    const about = { lease, job, attempt: attempt.number, timeoutMs, abort };
    this.#parts = parts;
    this.#startedAtMs = run.clock.monotonicMs();
    this.job = identityOf(job);
    this.context = openContext({ ...about, ...effects }, run);
  }

  /** Calls it; never rejects. */
  async call(): Promise<HandlerOutcome> {
    const { lease, reading, attempt, run } = this.#parts;
    const { job, definition } = reading;
    const ageMs = ageOf(lease.message, run.clock, job);
    run.onEvent({ kind: "job.started", ...this.#about, ageMs });
    const call = () => definition.handler(job, this.context.forHandler());
    const handler = await callHandler(call, this.context);
    this.context.close();
    this.#endedAtMs = run.clock.monotonicMs();
    return heldTo(handler, attempt.effects);
  }

  /** Decides how the try ends, as far as its ledger has not said so yet. */
  decide(handler: HandlerOutcome): Decision {
    return decideTry(handler, this.#parts.attempt, { ...this.#parts, context: this.context });
  }

  /** Tells how it ended. */
  tell(decision: Decision, handler: HandlerOutcome): void {
    const { lease, run } = this.#parts;
    const about = { lease: lease.ref, job: this.job };
    const answers = answersOf(about, this.context, decision, this.#endedAtMs);
    for (const event of answers) run.onEvent(event);
    const durationMs = this.#endedAtMs - this.#startedAtMs;
    run.onEvent({ kind: "job.ended", ...this.#about, durationMs, ...wordsOf(decision, handler) });
  }

  /** Tells that it does not stop. */
  tellIgnored(): void {
    const { lease, run } = this.#parts;
    const nowMs = run.clock.monotonicMs();
    const sinceMs = nowMs - (this.context.abortedAtMs ?? nowMs);
    run.onEvent({ kind: "job.ignored-abort", lease: lease.ref, job: this.job, sinceMs });
  }

  get #about() {
    const { lease, attempt } = this.#parts;
    return { lease: lease.ref, job: this.job, attempt: attempt.number };
  }
}

/**
 * Whoever returns with an effect of unknown outcome comes back when that has settled. If it had settled
 * and was left alone all the same, waiting for it again would never end: that is a failure.
 */
function heldTo(handler: HandlerOutcome, effects: OpenJob | undefined): HandlerOutcome {
  const { leftOpen = [] } = effects ?? {};
  if (handler.kind !== "returned" || leftOpen.length === 0) return handler;
  return { kind: "threw", thrown: new EffectLeftOpenError(leftOpen) };
}
