/** What becomes of a message whose job ends by the word of its ledger. Pure. */

import type { ControlOutcome, EndAnswer } from "@leasehold/job";
import type { Decision, Ending } from "./job-ending.ts";
import { type BackoffPolicy, growingDelayMs } from "./retry-delay.ts";

/** What the ending of a stopped job depends on. */
export interface StopFacts {
  readonly nowMs: number;
  readonly receiveCount: number;
  readonly backoff: BackoffPolicy;
  /** When the last effect of unknown outcome will have settled, wall time; `undefined` for none. */
  readonly settleAtMs: number | undefined;
}

/** A second: SQS counts in seconds, and a moment that is past must be no hot loop. */
const SHORTEST_DELAY_MS = 1_000;

/**
 * How it ends. None of it is a failure. Who is done with it, or has it stored, acks with the own
 * handle; who may not speak for it any more makes no call at all.
 */
export function decideStopped(outcome: ControlOutcome, facts: StopFacts): Decision {
  return { outcome: "stopped", stop: outcome.kind, ending: endingOf(outcome, facts) };
}

function endingOf(outcome: ControlOutcome, facts: StopFacts): Ending {
  switch (outcome.kind) {
    case "busy":
    case "held-back":
      return comeBackAt(outcome.retryAtMs, facts);
    case "done":
    case "cancelled":
    case "parked":
      return { kind: "ack" };
    case "dead":
      return { kind: "dead-letter", reason: outcome.reason };
    case "fenced":
    case "lease-lost":
      return { kind: "let-go", code: outcome.kind };
    case "draining":
      return { kind: "release", delayMs: settleDelayMs(facts), class: "ended" };
    case "store-down": {
      const growingMs = growingDelayMs(facts.receiveCount, facts.backoff);
      const delayMs = Math.max(growingMs, settleDelayMs(facts));
      return { kind: "release", delayMs, class: "store-down" };
    }
  }
}

/**
 * How it ends once its ledger was told of the decision: a message is acked, or goes to the dead
 * letters, only when that is recorded.
 */
export function decideRecorded(
  decision: Decision,
  answer: EndAnswer | undefined,
  facts: StopFacts,
): Decision {
  if (decision.outcome === "lease-lost" || decision.outcome === "stopped") return decision;
  if (answer?.kind === "stopped") return decideStopped(answer.outcome, facts);
  if (answer?.kind === "unsettled") {
    return { outcome: "stopped", stop: "unsettled", ending: comeBackAt(answer.retryAtMs, facts) };
  }
  const { ending } = decision;
  if (ending.kind !== "release") return decision;
  // Whoever got it earlier would only wait until the effect has settled, and spend a receive.
  const delayMs = Math.max(ending.delayMs, settleDelayMs(facts));
  return { ...decision, ending: { ...ending, delayMs } };
}

/** How long from now until the last effect of unknown outcome has settled; 0 when none is open. */
export function settleDelayMs({
  nowMs,
  settleAtMs,
}: Pick<StopFacts, "nowMs" | "settleAtMs">): number {
  return settleAtMs === undefined ? 0 : Math.max(0, settleAtMs - nowMs);
}

function comeBackAt(atMs: number, { nowMs }: StopFacts): Ending {
  return { kind: "retry", delayMs: Math.max(SHORTEST_DELAY_MS, atMs - nowMs) };
}
