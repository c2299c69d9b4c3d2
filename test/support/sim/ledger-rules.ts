/** What must hold of every write, whatever happens around it. */

import { isDeepStrictEqual } from "node:util";
import type { EffectRecord, JobRecord, LedgerWrite } from "@leasehold/idempotency";

/** A rule that was broken, in one sentence. */
export class BrokenInvariant extends Error {}

/** What has really happened. */
export interface Truth {
  /** How often the effect of a key was applied. */
  readonly countOf: (key: string) => number;
  /** A pause sat between the last look and the sending: an operator's word may have been wrong. */
  readonly isExcused: boolean;
}

/** Judges one write that was made. */
export function judgeWrite(
  write: LedgerWrite,
  before: JobRecord | undefined,
  after: JobRecord,
  truth: Truth,
): void {
  const broken = (rule: string) => {
    const seen = JSON.stringify({ before, after }, null, 1);
    throw new BrokenInvariant(`${write.name}: ${rule}\n${seen}`);
  };
  const open = Object.values(after.effects).filter(isOpen);
  if (before !== undefined && after.epoch < before.epoch) broken("an epoch shrank");
  if (open.length > 0 && after.expiresAtMs !== undefined) broken("an open effect may expire");
  if (after.state === "parked" && after.expiresAtMs !== undefined)
    broken("a parked job may expire");
  if (after.state === "parked" && after.parked?.message === undefined) {
    broken("a parked job has no message");
  }
  if (after.state === "done" && open.length > 0) broken("a done job has an open effect");
  if (
    before?.state === "done" &&
    after.state !== "done" &&
    after.parked?.why !== "applied-after-rejection"
  ) {
    broken("a done job is not done any more");
  }
  if (
    before?.state === "dead" &&
    after.state === "open" &&
    after.failures + after.interruptions > 0
  ) {
    broken("a dead job that is opened again keeps its failures");
  }
  if (
    before?.state === "dead" &&
    after.state === "open" &&
    after.generation === before.generation
  ) {
    broken("a dead job is opened again in the same generation");
  }
  for (const [name, effect] of Object.entries(after.effects)) {
    const rule = effectRule(before?.effects[name], effect, after, truth);
    if (rule !== undefined) broken(`${rule} (${name})`);
  }
}

function effectRule(
  before: EffectRecord | undefined,
  after: EffectRecord,
  record: JobRecord,
  truth: Truth,
): string | undefined {
  if (before === after) return undefined;
  const isStarted = after.state === "started" && after.nonce !== before?.nonce;
  if (isStarted && (after.epoch !== record.epoch || record.state !== "open")) {
    return "an effect was started under another epoch than the job's";
  }
  if (after.state === "started" && before !== undefined && isOpen(before)) {
    if (after.nonce === before.nonce) return "an effect was taken over under its old nonce";
  }
  if (before !== undefined && after.nonce !== before.nonce && after.state !== "started") {
    return "an attempt that had been taken over wrote over its successor";
  }
  if (before !== undefined && after.providerKey !== before.providerKey) {
    return "the provider key has changed";
  }
  if (before !== undefined && after.inputHash !== before.inputHash) return "the input has changed";
  const wasApplied = truth.countOf(after.providerKey) > 0;
  if (after.state === "released" && wasApplied && !truth.isExcused)
    return "an applied effect was released";
  if (after.state === "done" && after.outcome === "ok" && !wasApplied) {
    return "an effect is done that was never applied";
  }
  if (before?.state === "done") {
    if (after.state !== "done") return "a done effect is not done any more";
    const isResolved = before.lateResult !== undefined;
    if (before.outcome !== after.outcome && !isResolved) return "a done effect has another outcome";
    if (before.outcome === "ok" && !isDeepStrictEqual(before.result, after.result)) {
      return "a done effect has another result";
    }
  }
  return undefined;
}

function isOpen({ state }: EffectRecord): boolean {
  return state === "started" || state === "unknown";
}
