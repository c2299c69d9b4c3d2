/** How a lease ends: what its run decided, and what is reported of it. Pure. */

import type { DeadLetterReason, EndOutcome } from "./lease.ts";
import type { LapsedEnding, LeaseEvent, LeaseRef, ReleaseClass } from "./lease-event.ts";
import type { LeaseState } from "./lease-state.ts";

/** How a run wants its message to end. */
export type LeaseEnding =
  | { readonly kind: "ack" }
  | { readonly kind: "let-go" }
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "release"; readonly delayMs: number; readonly releaseClass: ReleaseClass }
  | {
      readonly kind: "dead-letter";
      readonly reason: DeadLetterReason;
      /** When to retry the message if its copy is refused; it lapses without. */
      readonly refusedDelayMs: number | undefined;
    };

/** What is known when a lease has ended. */
export interface EndedLease {
  readonly ref: LeaseRef;
  readonly before: LeaseState;
  readonly state: LeaseState;
  readonly ending: LeaseEnding | undefined;
  /** The delay that SQS was told, for a retry or a release. */
  readonly delayMs: number;
  readonly heldMs: number;
  readonly visibleInMs: number;
  /** Why it lapses. */
  readonly code: string;
}

/** The event that tells of an ending, or `undefined` while there is none. */
export function endingEvent(ended: EndedLease): LeaseEvent | undefined {
  const { ref: lease, state, ending, delayMs, heldMs, visibleInMs, code } = ended;
  if (state.kind === "lost") {
    return { kind: "lease.lost", lease, cause: state.cause, during: describe(ended.before) };
  }
  if (state.kind === "lapsing") {
    return { kind: "lease.lapsing", lease, during: lapsedEnding(ending), code, visibleInMs };
  }
  if (state.kind !== "done" && state.kind !== "released") return undefined;
  switch (ending?.kind) {
    case "ack":
      return { kind: "lease.acked", lease, heldMs };
    case "retry":
      return { kind: "lease.retried", lease, delayMs };
    case "release":
      return { kind: "lease.released", lease, delayMs, class: ending.releaseClass };
    case "dead-letter":
      return { kind: "lease.dead-lettered", lease, reason: ending.reason.code };
    case "let-go":
    case undefined:
      return undefined;
  }
}

/** What the one who decided the ending is told. */
export function endOutcome(state: LeaseState, visibleInMs: number): EndOutcome {
  if (state.kind === "lost") return { kind: "lost" };
  if (state.kind === "lapsing") return { kind: "lapsing", visibleInMs };
  return { kind: "confirmed" };
}

function lapsedEnding(ending: LeaseEnding | undefined): LapsedEnding {
  return ending === undefined || ending.kind === "ack" ? "close" : ending.kind;
}

function describe(state: LeaseState): string {
  return state.kind === "settling" ? `settling (${state.as})` : state.kind;
}
