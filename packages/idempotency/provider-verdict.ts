/** What an error of a call says about its provider. Pure. */

import { type Effect, isOutage, type NotSentError } from "@leasehold/job";
import type { GateVerdict } from "./provider-gate.ts";

type Judge = Pick<Effect<unknown, unknown>, "isOutage">;

/** What it says; `undefined` when it says nothing. */
export function verdictOf(thrown: unknown, effect: Judge): GateVerdict | undefined {
  const code = codeOf(thrown);
  if (code === "EFFECT_REJECTED") return { kind: "answered" };
  const retryAfterMs =
    code === "EFFECT_NOT_SENT" ? (thrown as NotSentError).retryAfterMs : undefined;
  if (retryAfterMs !== undefined && retryAfterMs >= 0)
    return { kind: "rate-limited", retryAfterMs };
  return saysDown(effect, thrown) ? { kind: "down" } : undefined;
}

function saysDown(effect: Judge, thrown: unknown): boolean {
  try {
    return (effect.isOutage ?? isOutage)(thrown);
  } catch {
    return false; // the attempt's record is more important than an opinion about its provider
  }
}

/** The stable word of an error; errors are told apart by it, also across two copies of a package. */
export function codeOf(thrown: unknown): unknown {
  return typeof thrown === "object" && thrown !== null && "code" in thrown
    ? thrown.code
    : undefined;
}
