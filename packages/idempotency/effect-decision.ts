/** What to do with an effect, from its record and its policy. Pure. */

import type { Recovery } from "@leasehold/job";
import { type EffectRecord, isOpenEffect } from "./ledger-record.ts";

/** What the decision depends on beside the record. */
export interface EffectFacts {
  readonly inputHash: string;
  readonly recover: Recovery<unknown>;
  /** How long `run` may take. */
  readonly timeoutMs: number;
  /** The ledger's, for policies that name none of their own. */
  readonly settleMs: number;
  readonly ledgerSkewMs: number;
  readonly nowMs: number;
}

/** What to do with it. */
export type EffectDecision =
  | { readonly kind: "start" }
  /** It has happened: its stored result, or the stored rejection. */
  | { readonly kind: "stored" }
  /** Started with another input: nothing may be done. */
  | { readonly kind: "mismatch" }
  /** An earlier attempt may still be at it, or may still show at the provider. */
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "replay" | "query" | "rerun" | "park" };

/**
 * What to do with an effect.
 *
 * Nobody takes an effect over while its attempt may run. Its policy then says how; all but `replay`
 * wait until a late landing has settled, because nothing but the provider's own key tells the two
 * apart afterwards.
 */
export function decideEffect(record: EffectRecord | undefined, facts: EffectFacts): EffectDecision {
  if (record === undefined) return { kind: "start" };
  if (record.inputHash !== facts.inputHash) return { kind: "mismatch" };
  if (record.state === "released") return { kind: "start" };
  if (!isOpenEffect(record)) return { kind: "stored" };
  const recover = policyNow(record, facts);
  const untilMs = settledAtMs(record, recover, facts);
  if (facts.nowMs <= untilMs) return { kind: "wait", untilMs: untilMs + 1 };
  return { kind: recover.kind };
}

/** The policy, or the one that stands in for `replay` once the provider may have forgotten its key. */
export function policyNow(record: EffectRecord, facts: EffectFacts): Recovery<unknown> {
  const { recover, nowMs, timeoutMs, ledgerSkewMs } = facts;
  if (recover.kind !== "replay") return recover;
  const isKnown = nowMs + timeoutMs + ledgerSkewMs <= record.firstSentAtMs + recover.windowMs;
  return isKnown ? recover : recover.after;
}

/** From when on an open effect may be taken over. */
export function settledAtMs(
  record: EffectRecord,
  recover: Recovery<unknown>,
  { settleMs, ledgerSkewMs }: Pick<EffectFacts, "settleMs" | "ledgerSkewMs">,
): number {
  const endedAtMs = record.deadlineAtMs + ledgerSkewMs;
  // An attempt that said itself that it does not know has ended; its late landing has the same key.
  if (recover.kind === "replay") return record.state === "unknown" ? 0 : endedAtMs;
  const own = recover.kind === "query" ? recover.settleMs : undefined;
  return endedAtMs + (own ?? settleMs);
}
