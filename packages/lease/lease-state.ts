/**
 * The states of one lease and the only moves between them. Pure: no clock, no queue.
 *
 * A message is *received*, and *running* once a run has begun. Its run decides how it ends, and the
 * first decision wins: *settling* (an ack, a retry or a dead-letter is on its way) ends in *done*,
 * *releasing* in *released*. A dead-letter that cannot be delivered turns into a retry. A retry, a
 * release or a dead-letter whose outcome nobody can know is *lapsing*: no further call, it runs out
 * by itself. Until an ending is confirmed the lease can be *lost*. The last four never change again.
 */

import type { Moment } from "@leasehold/clock";
import { LeaseTransitionError } from "./errors.ts";
import type { LostCause } from "./lease-event.ts";
import { earlier, leftMs } from "./lease-term.ts";

/** How a run settles its message. */
export type Settlement = "ack" | "retry" | "dead-letter";

/** What an open lease has in every state. */
interface Term {
  /** Until when the message is ours, as far as our own clock can prove it. */
  readonly validUntil: Moment;
}

/** An ending is decided and not yet confirmed. */
interface Ending extends Term {
  /**
   * Present while the call of this ending is out: what `validUntil` was before, to go back to when
   * the call proves not to have been applied. Meanwhile the answer decides, not the clock.
   */
  readonly heldUntil?: Moment;
}

/** Where a lease stands. */
export type LeaseState =
  | ({ readonly kind: "received" | "running" } & Term)
  | ({ readonly kind: "settling"; readonly as: Settlement } & Ending)
  | ({ readonly kind: "releasing" } & Ending)
  | { readonly kind: "done"; readonly as: Settlement }
  | { readonly kind: "released" }
  | { readonly kind: "lapsing" }
  | { readonly kind: "lost"; readonly cause: LostCause };

/** The word for a lease's state. */
export type LeaseStateKind = LeaseState["kind"];

/** A lease that has not ended. */
export type OpenLeaseState = Extract<LeaseState, Term>;

type EndingState = Extract<LeaseState, { readonly kind: "settling" | "releasing" }>;

/** What can happen to a lease. The last three answer the call of an ending. */
export type LeaseStateEvent =
  | { readonly kind: "tick" }
  | { readonly kind: "start" }
  | { readonly kind: "settle"; readonly as: Settlement }
  | { readonly kind: "release" }
  /** An extension was confirmed. */
  | { readonly kind: "extended"; readonly validUntil: Moment }
  /** A change of visibility that reaches less far than before has been sent: the taper. */
  | { readonly kind: "shortened"; readonly validUntil: Moment }
  /** That change was provably not applied; `validUntil` is what held before. */
  | { readonly kind: "restored"; readonly validUntil: Moment }
  /** Another thread extends it and has proved this; when its proof came is its matter, not ours. */
  | { readonly kind: "proved"; readonly validUntil: Moment }
  /** SQS will never take this handle again. */
  | { readonly kind: "refused" }
  /** No further call will be made, the message comes back by itself. */
  | { readonly kind: "let-go" }
  /** The copy of a dead-letter is refused for good: the message is retried instead. */
  | { readonly kind: "undeliverable" }
  /** The call of an ending has been sent; `validUntil` when it shortens. */
  | { readonly kind: "sent"; readonly validUntil?: Moment }
  | { readonly kind: "confirmed" }
  | { readonly kind: "not-applied" }
  | { readonly kind: "unknown" };

/** Whether the lease has not ended: the message is ours, or its ending is not confirmed yet. */
export function isOpen(state: LeaseState): state is OpenLeaseState {
  return "validUntil" in state;
}

/**
 * The state after `event`, seen at `at`. An ending asked for when another one is decided changes
 * nothing and returns the same state.
 *
 * @throws LeaseTransitionError when the event makes no sense in this state: a bug in the caller.
 */
export function transition(state: LeaseState, event: LeaseStateEvent, at: Moment): LeaseState {
  if (!isOpen(state)) {
    if (event.kind === "tick" || isDecision(event)) return state;
    throw new LeaseTransitionError(state.kind, event.kind);
  }
  if (event.kind === "refused") return { kind: "lost", cause: "refused" };
  if (event.kind === "let-go") return { kind: "lapsing" };
  if (isEnding(state) && state.heldUntil !== undefined) {
    return whileCallIsOut(state, state.heldUntil, event, at);
  }
  const isKnownAnew = event.kind === "restored" || event.kind === "proved";
  const deadline = isKnownAnew ? event.validUntil : state.validUntil;
  if (leftMs(deadline, at) <= 0) {
    return { kind: "lost", cause: event.kind === "extended" ? "late-answer" : "expired" };
  }
  return whileHeld(state, event);
}

/** The moves of a lease that is ours beyond doubt. */
function whileHeld(state: OpenLeaseState, event: LeaseStateEvent): LeaseState {
  const { validUntil } = state;
  switch (event.kind) {
    case "tick":
      return state;
    case "extended":
    case "restored":
    case "proved":
      return { ...state, validUntil: event.validUntil };
    case "shortened":
      return { ...state, validUntil: earlier(validUntil, event.validUntil) };
    case "start":
      if (state.kind === "received") return { kind: "running", validUntil };
      break;
    case "settle":
      if (isEnding(state)) return state;
      if (state.kind === "running") return { kind: "settling", as: event.as, validUntil };
      break;
    case "release":
      return isEnding(state) ? state : { kind: "releasing", validUntil };
    case "undeliverable":
      if (state.kind !== "settling" || state.as !== "dead-letter") break;
      return { kind: "settling", as: "retry", validUntil };
    case "sent":
      if (isEnding(state)) return afterSending(state, event.validUntil);
      break;
  }
  throw new LeaseTransitionError(state.kind, event.kind);
}

/** The moves while the call of an ending is out: its answer decides, not the clock. */
function whileCallIsOut(
  state: EndingState,
  heldUntil: Moment,
  event: LeaseStateEvent,
  at: Moment,
): LeaseState {
  switch (event.kind) {
    case "tick":
    case "settle":
    case "release":
      return state;
    case "extended":
      if (leftMs(state.validUntil, at) <= 0) return state;
      return { ...state, validUntil: event.validUntil, heldUntil: event.validUntil };
    case "restored":
    case "proved":
      return { ...state, validUntil: event.validUntil, heldUntil: event.validUntil };
    case "shortened": {
      const validUntil = earlier(state.validUntil, event.validUntil);
      return { ...state, validUntil, heldUntil: validUntil };
    }
    case "confirmed":
      return state.kind === "releasing" ? { kind: "released" } : { kind: "done", as: state.as };
    case "unknown":
      // A delete may be repeated. A change of visibility may not: it would free the next owner's.
      if (isShortening(state)) return { kind: "lapsing" };
      return afterNothing(state, heldUntil, at);
    case "not-applied":
      return afterNothing(state, heldUntil, at);
  }
  throw new LeaseTransitionError(state.kind, event.kind);
}

function afterSending(state: EndingState, validUntil: Moment = state.validUntil): LeaseState {
  const lowered = earlier(state.validUntil, validUntil);
  return { ...state, validUntil: lowered, heldUntil: state.validUntil };
}

/** The call did nothing: all is as before it, if there is still time. */
function afterNothing(state: EndingState, heldUntil: Moment, at: Moment): LeaseState {
  if (leftMs(heldUntil, at) <= 0) return { kind: "lost", cause: "expired" };
  if (state.kind === "releasing") return { kind: "releasing", validUntil: heldUntil };
  return { kind: "settling", as: state.as, validUntil: heldUntil };
}

function isEnding(state: LeaseState): state is EndingState {
  return state.kind === "settling" || state.kind === "releasing";
}

function isShortening(state: EndingState): boolean {
  return state.kind === "releasing" || state.as === "retry";
}

function isDecision(event: LeaseStateEvent): boolean {
  return event.kind === "settle" || event.kind === "release";
}
