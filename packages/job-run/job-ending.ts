/** Ack, retry when, dead-letter why, or release: from the outcome of a run and its history. Pure. */

import type { AbortCause } from "@leasehold/job";
import type { DeadLetterReason, ReleaseClass } from "@leasehold/lease";
import type { JobOutcome } from "./job-event.ts";
import type { AttemptCount } from "./receive-count-ledger.ts";
import { type BackoffPolicy, growingDelayMs, retryDelayMs } from "./retry-delay.ts";
import { codeOf, describeThrown, fieldOf, isAbortPassedOn } from "./thrown.ts";

/** What a handler did. */
export type HandlerOutcome =
  | {
      readonly kind: "returned";
      /** Whether it returned what `context.done` gave it. */
      readonly saidDone: boolean;
    }
  | { readonly kind: "threw"; readonly thrown: unknown };

/** How the message is to be settled. */
export type Ending =
  | { readonly kind: "ack" }
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "dead-letter"; readonly reason: DeadLetterReason }
  | { readonly kind: "release"; readonly delayMs: number; readonly class: ReleaseClass };

/** The ending, and the word for how the run went. */
export interface Decision {
  readonly outcome: JobOutcome;
  readonly ending: Ending;
  /** The handler returned after its abort without a word on whether it had finished. */
  readonly quietReturn?: true;
}

/** All that an ending depends on. */
export interface RunFacts {
  readonly handler: HandlerOutcome;
  /** Why the run was asked to stop, if it was; `lease-lost` also when that came later. */
  readonly abortCause?: AbortCause;
  /** The reason of its signal. */
  readonly abortReason?: unknown;
  /** Whether the handler ever looked at its signal; one that did not cannot have obeyed it. */
  readonly signalWasRead: boolean;
  readonly count: AttemptCount;
  readonly canDeadLetter: boolean;
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: number;
}

/** No call is made for it; the lease knows that it was lost and only takes note of the run's end. */
const TAKE_NOTE: Ending = { kind: "release", delayMs: 0, class: "ended" };

/**
 * How a run ends.
 *
 * After an abort a return is an ack only when the handler said `done` or never looked at its
 * signal: `if (signal.aborted) return` is how handlers stop. A throw after the drain's abort is an
 * interruption, whatever was thrown, save a permanent error; after a job timeout it is a failure.
 */
export function decideEnding(facts: RunFacts): Decision {
  if (facts.abortCause === "lease-lost") return { outcome: "lease-lost", ending: TAKE_NOTE };
  return facts.handler.kind === "returned"
    ? afterReturn(facts, facts.handler.saidDone)
    : afterThrow(facts, facts.handler.thrown);
}

function afterReturn(facts: RunFacts, saidDone: boolean): Decision {
  const { abortCause, signalWasRead } = facts;
  if (abortCause === undefined || saidDone || !signalWasRead) {
    return { outcome: "succeeded", ending: { kind: "ack" } };
  }
  const decision = abortCause === "job-timeout" ? afterFailure(facts) : interrupted(facts);
  return { ...decision, quietReturn: true };
}

function afterThrow(facts: RunFacts, thrown: unknown): Decision {
  const code = codeOf(thrown);
  if (code === "PERMANENT_JOB_FAILURE") return deadLetter(facts, permanentReason(thrown));
  const wantedMs = code === "RETRY_LATER" ? wantedDelayMs(thrown) : undefined;
  if (facts.abortCause === undefined || facts.abortCause === "job-timeout") {
    if (wantedMs === undefined) return afterFailure(facts);
    return { outcome: "retry-later", ending: { kind: "retry", delayMs: wantedMs } };
  }
  if (wantedMs !== undefined) return interrupted(facts, wantedMs);
  if (isAbortPassedOn(thrown, facts.abortReason)) return interrupted(facts);
  return {
    outcome: "interrupted",
    ending: { kind: "release", delayMs: backoffMs(facts), class: "failed" },
  };
}

function interrupted({ abortCause }: RunFacts, delayMs = 0): Decision {
  const releaseClass = abortCause === "hold-limit" ? "hold-limit" : "ended";
  return { outcome: "interrupted", ending: { kind: "release", delayMs, class: releaseClass } };
}

function afterFailure(facts: RunFacts): Decision {
  const { attempt, budget } = facts.count;
  if (attempt < budget || !facts.canDeadLetter) {
    return { outcome: "failed", ending: { kind: "retry", delayMs: backoffMs(facts) } };
  }
  const why = facts.handler.kind === "threw" ? describeThrown(facts.handler.thrown).message : "";
  const last = facts.abortCause === "job-timeout" ? "it took longer than its limit" : why;
  return deadLetter(facts, {
    code: "attempts-exhausted",
    detail: `attempt ${attempt} of ${budget} failed${last === "" ? "" : `: ${last}`}`,
  });
}

/** Without a dead-letter queue a hopeless job waits, longer each time: it must not vanish. */
function deadLetter(facts: RunFacts, reason: DeadLetterReason): Decision {
  if (facts.canDeadLetter) {
    return { outcome: "dead-lettered", ending: { kind: "dead-letter", reason } };
  }
  const delayMs = growingDelayMs(facts.count.attempt, facts.backoff);
  return { outcome: "failed", ending: { kind: "retry", delayMs } };
}

function backoffMs({ count, backoff, random }: RunFacts): number {
  return retryDelayMs(count.attempt, backoff, random);
}

function permanentReason(thrown: unknown): DeadLetterReason {
  return { code: "permanent", detail: describeThrown(thrown).message };
}

/** The delay that `RetryLaterError` asks for; one that is no time at all makes it a failure. */
function wantedDelayMs(thrown: unknown): number | undefined {
  const delayMs = fieldOf(thrown, "delayMs");
  return typeof delayMs === "number" && delayMs >= 0 ? delayMs : undefined;
}
