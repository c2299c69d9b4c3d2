/** How one try ends: its handler's outcome, with all that is known of the job and its queue. */

import type { Lease } from "@leasehold/lease";
import type { Attempt } from "./attempt.ts";
import { asInPlace } from "./in-place.ts";
import { type Decision, decideEnding, type HandlerOutcome } from "./job-ending.ts";
import type { RunContext } from "./run-context.ts";
import type { RunParts } from "./run-parts.ts";

/** What is known of a try besides its attempt. */
export interface TryFacts {
  readonly lease: Pick<Lease, "canDeadLetter">;
  readonly run: Pick<RunParts, "policy" | "random" | "inPlaceMs">;
  /** There is none when its handler was never called. */
  readonly context?: RunContext;
}

/** Decides how the try ends. */
export function decideTry(
  handler: HandlerOutcome,
  { history, budgets }: Pick<Attempt, "history" | "budgets">,
  { lease, run, context }: TryFacts,
): Decision {
  const abortCause = context?.abortCause;
  const decision = decideEnding({
    ...{ handler, history, budgets },
    ...(abortCause === undefined ? {} : { abortCause }),
    abortReason: context?.abortReason,
    signalWasRead: context?.signalWasRead ?? false,
    canDeadLetter: lease.canDeadLetter,
    backoff: run.policy.backoff,
    random: run.random(),
  });
  return asInPlace(decision, run.inPlaceMs);
}
