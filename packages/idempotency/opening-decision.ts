/** Whether this delivery may open the job, from its record. Pure. */

import type { GivenUp } from "@leasehold/job";
import type { JobRecord } from "./ledger-record.ts";

/** What a delivery says of itself. */
export interface Claim {
  readonly messageId: string;
  readonly receiveCount: number;
  /** An operator brought it back from the dead letters. */
  readonly redriven: boolean;
  readonly nowMs: number;
  /** By how much the clocks of two workers may differ. */
  readonly ledgerSkewMs: number;
  /** The longest that a busy job is put off. */
  readonly longestBusyMs: number;
}

/** What becomes of the delivery. */
export type OpeningDecision =
  | { readonly kind: "open"; readonly nextGeneration: boolean }
  | { readonly kind: "busy"; readonly retryAtMs: number }
  /** An older receipt of a message that has been delivered again since. */
  | { readonly kind: "fenced" }
  | { readonly kind: "done" }
  | { readonly kind: "parked" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "dead"; readonly reason: GivenUp };

/**
 * Whether the job may be opened.
 *
 * A larger receive count of the same message is proof that the earlier delivery's lease has ended.
 * Anybody else waits until the opening's lease and the clocks' skew are over.
 */
export function decideOpening(record: JobRecord, claim: Claim): OpeningDecision {
  switch (record.state) {
    case "done":
    case "parked":
    case "cancelled":
      return { kind: record.state };
    case "dead": {
      const isNew = claim.redriven || claim.messageId !== record.messageId;
      if (isNew) return { kind: "open", nextGeneration: true };
      return { kind: "dead", reason: whyDead(record) };
    }
    case "open":
      return decideOpen(record, claim);
  }
}

/** Why a dead job is dead. */
export function whyDead({ reason }: JobRecord): GivenUp {
  return reason ?? { code: "given-up", detail: "its record does not say why" };
}

function decideOpen(record: JobRecord, claim: Claim): OpeningDecision {
  const { messageId, receiveCount, nowMs, ledgerSkewMs, longestBusyMs } = claim;
  // Its worker has said that it ended: nobody is at it, whichever delivery this is.
  if (record.leaseUntilMs === 0) return { kind: "open", nextGeneration: false };
  if (messageId === record.messageId) {
    if (receiveCount < record.receiveCount) return { kind: "fenced" };
    if (receiveCount > record.receiveCount) return { kind: "open", nextGeneration: false };
  }
  const freeAtMs = record.leaseUntilMs + ledgerSkewMs;
  if (freeAtMs < nowMs) return { kind: "open", nextGeneration: false };
  // The lease may be extended for hours: each further delivery of the same message waits longer.
  const waitMs = (freeAtMs - nowMs + 1) * 2 ** Math.min(receiveCount - 1, 20);
  const retryAtMs = Math.max(freeAtMs + 1, nowMs + Math.min(waitMs, longestBusyMs));
  return { kind: "busy", retryAtMs };
}

/** What is known about a job's age. */
export interface AgeFacts {
  readonly jobCreatedAtMs: number;
  /** When its record was made, or now when there is none. */
  readonly recordCreatedAtMs: number;
  /** Records younger than that have certainly not expired. */
  readonly provableForMs: number;
  /** When the table was last restored from a backup. */
  readonly restoredAtMs: number;
}

/**
 * Whether an earlier record of the job may have been lost, to its expiry or to a restore: then
 * nobody can tell whether its effects have happened.
 */
export function isTooOldToProve(facts: AgeFacts): boolean {
  const { jobCreatedAtMs, recordCreatedAtMs, provableForMs, restoredAtMs } = facts;
  const mayHaveExpired = recordCreatedAtMs - jobCreatedAtMs > provableForMs;
  const mayBeErased = jobCreatedAtMs < restoredAtMs && recordCreatedAtMs >= restoredAtMs;
  return mayHaveExpired || mayBeErased;
}
