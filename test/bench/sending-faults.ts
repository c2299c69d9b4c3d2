/** Faults that meet requests to send, by chance from a seed, and an account of them. */

import type { WireRule, WireVerdict } from "./tapped-wire.ts";

/** What went wrong on one wire. */
export interface SendingFaults {
  readonly rule: WireRule;
  /** To send, as they left the sender. */
  readonly requests: number;
  /** Entries that failed alone. */
  readonly failedEntries: number;
  /** How often a job was in a call that was done and not answered. */
  lostAnswers(jobId: string): number;
}

const KINDS = ["refuse", "cut", "lose-answer", "fail-entries"] as const;

/** @param faultRate - from 0 to 1; each kind of fault makes an equal part of it */
export function sendingFaults(faultRate: number): SendingFaults {
  const lost = new Map<string, number>();
  let requests = 0;
  let failedEntries = 0;
  const rule: WireRule = ({ action, entries }) => {
    if (!action.startsWith("SendMessage")) return "pass";
    requests += 1;
    const verdict = verdictOf(requests, faultRate);
    if (verdict === "fail-entries") failedEntries += Math.ceil(entries.length / 2);
    if (verdict === "lose-answer") {
      for (const { MessageBody = "" } of entries) {
        const { job_id: jobId } = JSON.parse(MessageBody) as { readonly job_id: string };
        lost.set(jobId, (lost.get(jobId) ?? 0) + 1);
      }
    }
    return verdict;
  };
  return {
    rule,
    get requests() {
      return requests;
    },
    get failedEntries() {
      return failedEntries;
    },
    lostAnswers: (jobId) => lost.get(jobId) ?? 0,
  };
}

/** The same for the same request in every run. */
function verdictOf(request: number, faultRate: number): WireVerdict {
  const chance = unit(request);
  if (chance >= faultRate) return "pass";
  return KINDS[Math.floor((chance / faultRate) * KINDS.length)] ?? "pass";
}

/** In [0, 1): an integer hash, so that neighbours are far apart. */
function unit(value: number): number {
  let hash = Math.imul(value, 0x9e3779b1) ^ 0x51ed270b;
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
