/** What becomes of a message that is no job, or none that this worker knows. */

import type { Clock } from "@leasehold/clock";
import type { DeadLetterReason, Lease, LeaseRef, ReleaseClass } from "@leasehold/lease";
import type { JobEvent } from "./job-event.ts";
import { ageOf, type JobReading } from "./read-job.ts";
import { type BackoffPolicy, growingDelayMs } from "./retry-delay.ts";
import type { RunPolicy } from "./run-parts.ts";

type Malformed = Extract<JobReading, { readonly kind: "malformed" }>;
type Unknown = Extract<JobReading, { readonly kind: "unknown" }>;

/** It goes to the dead-letter queue, or back to its own. */
export type TurnedAway =
  | { readonly kind: "dead-letter"; readonly reason: DeadLetterReason }
  | { readonly kind: "release"; readonly delayMs: number; readonly class: ReleaseClass };

interface TurnAwayFacts {
  readonly canDeadLetter: boolean;
  readonly receiveCount: number;
  readonly backoff: BackoffPolicy;
}

/** What becomes of the message, and what is told of it. */
export interface Dismissal {
  readonly outcome: "malformed" | "unknown-type";
  readonly ending: TurnedAway;
  readonly event: JobEvent;
}

/** Dismisses a message that is no job, or none that this worker knows. */
export function turnAway(
  reading: Malformed | Unknown,
  { ref, message, canDeadLetter }: Lease,
  policy: Pick<RunPolicy, "backoff" | "unknownTypeGraceMs">,
  clock: Clock,
): Dismissal {
  const { receiveCount } = message;
  const facts = { ...policy, canDeadLetter, receiveCount, ageMs: ageOf(message, clock) };
  if (reading.kind === "malformed") {
    const ending = refuseMalformed(reading, facts);
    return { outcome: "malformed", ending, event: malformedEvent(ref, reading, ending) };
  }
  const ending = putOffUnknown(reading, facts);
  return { outcome: "unknown-type", ending, event: unknownTypeEvent(ref, reading, ending) };
}

/** No try will mend it. Without a dead-letter queue it waits, longer each time: it must not vanish. */
function refuseMalformed({ reason, detail }: Malformed, facts: TurnAwayFacts): TurnedAway {
  if (facts.canDeadLetter) {
    return { kind: "dead-letter", reason: { code: "malformed", detail: `${reason}: ${detail}` } };
  }
  const delayMs = growingDelayMs(facts.receiveCount, facts.backoff);
  return { kind: "release", delayMs, class: "malformed" };
}

/**
 * In a rolling deploy the producer may be ahead: the message waits for a worker that knows it, and
 * is dead-lettered only when none has come in time.
 */
function putOffUnknown(
  { reason, detail }: Unknown,
  facts: TurnAwayFacts & { readonly ageMs: number; readonly unknownTypeGraceMs: number },
): TurnedAway {
  if (facts.canDeadLetter && facts.ageMs > facts.unknownTypeGraceMs) {
    return { kind: "dead-letter", reason: { code: reason, detail } };
  }
  const delayMs = growingDelayMs(facts.receiveCount, facts.backoff);
  return { kind: "release", delayMs, class: "unknown-type" };
}

/** The loud word about a message that is no job. */
function malformedEvent(lease: LeaseRef, reading: Malformed, away: TurnedAway): JobEvent {
  const { reason, detail, identity } = reading;
  return { kind: "job.malformed", lease, reason, detail, disposal: disposalOf(away), identity };
}

/** The word about a job that waits for another release of the worker. */
function unknownTypeEvent(lease: LeaseRef, reading: Unknown, away: TurnedAway): JobEvent {
  const { job, detail } = reading;
  const delayMs = away.kind === "release" ? away.delayMs : 0;
  return { kind: "job.unknown-type", lease, job, detail, disposal: disposalOf(away), delayMs };
}

function disposalOf({ kind }: TurnedAway): "dead-lettered" | "released" {
  return kind === "release" ? "released" : "dead-lettered";
}
