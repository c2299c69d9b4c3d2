/** What a refused completion means, from the record that refused it. Pure. */

import { isDeepStrictEqual } from "node:util";
import type { Completion } from "./effect-writes.ts";
import {
  type EffectRecord,
  isOpenEffect,
  type JobRecord,
  type StoredResult,
} from "./ledger-record.ts";

/** What is to be done about it. */
export type RefusedCompletion =
  /** The attempt is still the current one: only the job is not ours any more. */
  | { readonly kind: "complete" }
  /** Somebody has taken it over and is not done: the effect is done all the same. */
  | { readonly kind: "complete-late"; readonly seen: EffectRecord }
  /** It is done already, and stays as it is; `differs` when two attempts had different results. */
  | {
      readonly kind: "stands";
      readonly result: StoredResult | undefined;
      readonly differs: boolean;
    }
  /** A later attempt was rejected: an operator must look at it. */
  | { readonly kind: "applied-after-rejection" }
  /** A rejection that comes too late says nothing about the attempt that is current. */
  | { readonly kind: "ignore" }
  | { readonly kind: "missing" };

/** What a refused completion means. */
export function decideRefused(
  record: JobRecord | undefined,
  name: string,
  own: EffectRecord,
  completion: Completion,
): RefusedCompletion {
  const stored = record?.effects[name];
  if (stored === undefined) return { kind: "missing" };
  const isOwn = stored.nonce === own.nonce;
  if (isOwn && isOpenEffect(stored)) return { kind: "complete" };
  if (completion.outcome === "rejected") return { kind: "ignore" };
  if (stored.state !== "done") return { kind: "complete-late", seen: stored };
  if (stored.outcome === "rejected") return { kind: "applied-after-rejection" };
  // A late completion leaves the nonce of whoever is at it, and the result of another.
  const isOthers = !isOwn || stored.late === true;
  const differs = isOthers && !isDeepStrictEqual(stored.result, completion.result);
  return { kind: "stands", result: stored.result, differs };
}
