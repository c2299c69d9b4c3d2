/** Faults that meet requests to send, as a plan for the fault proxy, and an account of what came of them. */

import type { Fault, FaultPlan, FaultProxy, ProxiedRequest } from "@leasehold/local-aws";

/**
 * All that ends by itself: a call that nobody answers would hold a sender up for its own patience,
 * and the SDK's is endless.
 */
const FAULTS: readonly Fault[] = [
  { kind: "throttle" },
  { kind: "server-error", side: "before" },
  { kind: "server-error", side: "after" },
  { kind: "reset", side: "before" },
  { kind: "reset", side: "after" },
  { kind: "failed-entries" },
];

/** @param rate - from 0 to 1; each kind of fault makes an equal part of it */
export function sendingFaults(rate: number): FaultPlan {
  const each = rate / FAULTS.length;
  // A rule is asked only when those before it let the request pass.
  return { rules: FAULTS.map((fault, nth) => ({ fault, chance: each / (1 - nth * each) })) };
}

/** What a sender asked and what the faults made of it. */
export interface SendingAccount {
  /** As they left the sender, whether or not they arrived. */
  readonly requests: number;
  /** Entries that failed alone, in a call that went well. */
  readonly failedEntries: number;
  /** Calls that were done, and the sender was told nothing or something else. */
  readonly lostAnswers: number;
}

/** Counts what came by the proxy. */
export function accountOf({ log }: Pick<FaultProxy, "log">): SendingAccount {
  const sends = log.filter(({ action }) => action.startsWith("SendMessage"));
  return {
    requests: sends.length,
    failedEntries: sends.reduce((sum, request) => sum + failedEntries(request), 0),
    lostAnswers: sends.filter(isAnswerLost).length,
  };
}

function failedEntries({ fault, entries }: ProxiedRequest): number {
  if (fault?.kind !== "failed-entries") return 0;
  return entries.filter(({ outcome }) => outcome !== "ok").length;
}

function isAnswerLost({ fault }: ProxiedRequest): boolean {
  return (fault?.kind === "server-error" || fault?.kind === "reset") && fault.side === "after";
}
