/** How one try ends: its handler's outcome, with all that is known of the job and its queue. */

import type { OpenJob } from "@leasehold/job";
import type { Lease } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import { asInPlace } from "./in-place.ts";
import { type Decision, decideEnding, type HandlerOutcome } from "./job-ending.ts";
import type { RunContext } from "./run-context.ts";
import type { RunParts } from "./run-parts.ts";
import { decideStopped, type StopFacts } from "./stopped-run.ts";

/** What is known of a try besides its attempt. */
export interface TryFacts {
  readonly lease: Pick<Lease, "canDeadLetter" | "message">;
  readonly run: Pick<RunParts, "policy" | "random" | "inPlaceMs" | "clock">;
  /** There is none when its handler was never called. */
  readonly context?: RunContext;
}

/**
 * Decides how the try ends. A job that is durably done is done, whatever its handler made of that; and
 * whatever the handler has caught, an outcome that its ledger came to decides.
 */
export function decideTry(
  handler: HandlerOutcome,
  { history, budgets, effects }: Pick<Attempt, "history" | "budgets" | "effects">,
  { lease, run, context }: TryFacts,
): Decision {
  const abortCause = context?.abortCause;
  if (effects !== undefined && abortCause !== "lease-lost") {
    if (effects.isDone) return { outcome: "succeeded", ending: { kind: "ack" } };
    if (effects.outcome !== undefined) {
      return decideStopped(effects.outcome, stopFactsOf({ lease, run }, effects));
    }
  }
  const decision = decideEnding({
    ...{ handler, history, budgets },
    isExcused: effects?.isExcused === true,
    ...(abortCause === undefined ? {} : { abortCause }),
    abortReason: context?.abortReason,
    signalWasRead: context?.signalWasRead ?? false,
    canDeadLetter: lease.canDeadLetter,
    backoff: run.policy.backoff,
    random: run.random(),
  });
  return asInPlace(decision, run.inPlaceMs);
}

/** What the ending of a stopped try depends on, now. */
export function stopFactsOf(
  { lease, run }: Pick<TryFacts, "lease" | "run">,
  effects?: Pick<OpenJob, "settleAtMs">,
): StopFacts {
  return {
    nowMs: run.clock.wallMs(),
    receiveCount: lease.message.receiveCount,
    backoff: run.policy.backoff,
    settleAtMs: effects?.settleAtMs,
  };
}
