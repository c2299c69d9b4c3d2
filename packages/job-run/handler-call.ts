/** Calls a handler, and puts what it did into words. */

import type { JobIdentity } from "@leasehold/job";
import type { LeaseRef } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import type { SchemaTimeoutError } from "./errors.ts";
import type { Decision, HandlerOutcome } from "./job-ending.ts";
import type { JobEvent } from "./job-event.ts";
import type { RunContext } from "./run-context.ts";
import { describeThrown, fieldOf } from "./thrown.ts";

/** The part of `job.ended` that depends on the handler. */
export type EndWords = Pick<
  Extract<JobEvent, { readonly kind: "job.ended" }>,
  "outcome" | "error" | "delayMs"
>;

/** The lease was given back over the handler's head: whatever it says now comes too late. */
export const GIVEN_BACK: Decision = {
  outcome: "interrupted",
  ending: { kind: "release", delayMs: 0, class: "ignored-abort" },
};

/** Whatever the handler does, at once or later, becomes a value. */
export async function callHandler(
  call: () => unknown,
  context: RunContext,
): Promise<HandlerOutcome> {
  try {
    const returned = await call();
    const saidDone = context.isDone(returned);
    return {
      kind: "returned",
      saidDone,
      result: saidDone ? fieldOf(returned, "result") : returned,
    };
  } catch (thrown) {
    return { kind: "threw", thrown };
  }
}

/** What is told of how it took its abort, if there was one. */
export function answersOf(
  about: { readonly lease: LeaseRef; readonly job: JobIdentity },
  { abortedAtMs }: RunContext,
  { quietReturn }: Decision,
  endedAtMs: number,
): readonly JobEvent[] {
  const isQuiet = quietReturn === true;
  return [
    ...(abortedAtMs === undefined
      ? []
      : [{ kind: "job.abort-answered", ...about, latencyMs: endedAtMs - abortedAtMs } as const]),
    ...(isQuiet ? [{ kind: "job.quiet-return", ...about } as const] : []),
  ];
}

/** What is told of the run's end. */
export function wordsOf({ outcome, ending }: Decision, handler: HandlerOutcome): EndWords {
  return {
    outcome,
    ...(handler.kind === "threw" ? { error: describeThrown(handler.thrown) } : {}),
    ...(ending.kind === "retry" ? { delayMs: ending.delayMs } : {}),
  };
}

/** What is told of a job whose schema has not answered. */
export function unreadEvent(
  about: { readonly lease: LeaseRef; readonly job: JobIdentity },
  { number: attempt }: Attempt,
  error: SchemaTimeoutError,
  decision: Decision,
): JobEvent {
  const words = wordsOf(decision, { kind: "threw", thrown: error });
  const durationMs = error.timeoutMs;
  return { kind: "job.schema-timeout", ...about, attempt, durationMs, ...words };
}
