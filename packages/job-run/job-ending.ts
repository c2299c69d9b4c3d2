/** Ack, retry when, dead-letter why, or release: from the outcome of a run and its history. Pure. */

import type { AbortCause, AttemptHistory, JobEndingNote } from "@leasehold/job";
import type { DeadLetterReason, ReleaseClass } from "@leasehold/lease";
import type { JobOutcome, StopWord } from "./job-event.ts";
import { type BackoffPolicy, growingDelayMs, putOffDelayMs, retryDelayMs } from "./retry-delay.ts";
import { type AttemptBudgets, reasonOf } from "./start-decision.ts";
import { codeOf, describeThrown, fieldOf, isAbortPassedOn } from "./thrown.ts";

/** What a handler did. */
export type HandlerOutcome =
  | {
      readonly kind: "returned";
      /** Whether it returned what `context.done` gave it. */
      readonly saidDone: boolean;
      /** What it returned, or said it has done. */
      readonly result?: unknown;
    }
  | { readonly kind: "threw"; readonly thrown: unknown };

/** How the message is to be settled. */
export type Ending =
  | { readonly kind: "ack" }
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "dead-letter"; readonly reason: DeadLetterReason }
  | { readonly kind: "release"; readonly delayMs: number; readonly class: ReleaseClass }
  /** No call is made any more, not even an extension. */
  | { readonly kind: "let-go"; readonly code: string };

/** The ending, and the word for how the run went. */
export interface Decision {
  readonly outcome: JobOutcome;
  readonly ending: Ending;
  /** The handler returned after its abort without a word on whether it had finished. */
  readonly quietReturn?: true;
  /** Why the ledger ended it; with the outcome `stopped` only. */
  readonly stop?: StopWord;
}

/** How a run went, those included that never came to be a job. */
export type RunOutcome = JobOutcome | "malformed" | "unknown-type" | "unstarted";

/** All that an ending depends on. */
export interface RunFacts {
  readonly handler: HandlerOutcome;
  /** Why the run was asked to stop, if it was; `lease-lost` also when that came later. */
  readonly abortCause?: AbortCause;
  /** The reason of its signal. */
  readonly abortReason?: unknown;
  /** Whether the handler ever looked at its signal; one that did not cannot have obeyed it. */
  readonly signalWasRead: boolean;
  /** What it depends on was down: a failure of this run is not counted. @defaultValue false */
  readonly isExcused?: boolean;
  /** Before this run. */
  readonly history: AttemptHistory;
  readonly budgets: AttemptBudgets;
  readonly canDeadLetter: boolean;
  readonly backoff: BackoffPolicy;
  /** In [0, 1). */
  readonly random: number;
}

/** What the ledger is told of a run. */
export function attemptEnding(
  { outcome, ending }: { readonly outcome: RunOutcome; readonly ending: Ending },
  handler?: HandlerOutcome,
): JobEndingNote {
  switch (outcome) {
    case "succeeded":
      return { kind: "succeeded", ...(handler?.kind === "returned" && resultOf(handler)) };
    case "failed":
      return { kind: "failed" };
    case "retry-later":
      return { kind: "put-off" };
    case "interrupted":
      return { kind: "interrupted" };
    case "dead-lettered":
      if (ending.kind !== "dead-letter") break;
      return { kind: "given-up", reason: ending.reason };
    case "lease-lost":
    case "stopped":
    case "malformed":
    case "unknown-type":
    case "unstarted":
      break;
  }
  return { kind: "uncounted" };
}

function resultOf({ result }: { readonly result?: unknown }): { readonly result?: unknown } {
  return result === undefined ? {} : { result };
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
  if (code === "PERMANENT_JOB_FAILURE") {
    return deadLetter(facts, "permanent", describeThrown(thrown).message);
  }
  const wantedMs = code === "RETRY_LATER" ? wantedDelayMs(thrown) : undefined;
  if (facts.abortCause === undefined || facts.abortCause === "job-timeout") {
    if (wantedMs === undefined) return afterFailure(facts);
    const delayMs = putOffDelayMs(wantedMs, facts.history.putOffs);
    return { outcome: "retry-later", ending: { kind: "retry", delayMs } };
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
  const failures = failuresOf(facts);
  const budget = facts.budgets.failures;
  if (failures < budget || !facts.canDeadLetter) {
    return { outcome: "failed", ending: { kind: "retry", delayMs: backoffMs(facts) } };
  }
  const why = facts.handler.kind === "threw" ? describeThrown(facts.handler.thrown).message : "";
  const last = facts.abortCause === "job-timeout" ? "it took longer than its limit" : why;
  const detail = `attempt ${failures} of ${budget} failed${last === "" ? "" : `: ${last}`}`;
  return deadLetter(facts, "attempts-exhausted", detail);
}

/** Without a dead-letter queue a hopeless job waits, longer each time: it must not vanish. */
function deadLetter(facts: RunFacts, code: string, detail: string): Decision {
  const failures = failuresOf(facts);
  if (facts.canDeadLetter) {
    const reason = reasonOf(code, detail, { ...facts.history, failures });
    return { outcome: "dead-lettered", ending: { kind: "dead-letter", reason } };
  }
  const delayMs = growingDelayMs(failures, facts.backoff);
  return { outcome: "failed", ending: { kind: "retry", delayMs } };
}

function backoffMs(facts: RunFacts): number {
  return retryDelayMs(failuresOf(facts), facts.backoff, facts.random);
}

/** This one included, unless it is excused. */
function failuresOf({ history, isExcused }: RunFacts): number {
  return history.failures + (isExcused === true ? 0 : 1);
}

/** The delay that `RetryLaterError` asks for; one that is no time at all makes it a failure. */
function wantedDelayMs(thrown: unknown): number | undefined {
  const delayMs = fieldOf(thrown, "delayMs");
  return typeof delayMs === "number" && delayMs >= 0 ? delayMs : undefined;
}
