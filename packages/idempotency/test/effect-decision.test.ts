import { park, query, type Recovery, replay, rerun } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { decideEffect, type EffectFacts } from "../effect-decision.ts";
import type { EffectRecord } from "../ledger-record.ts";

const AT = 1_000_000;
const lookup = async () => ({ kind: "absent" }) as const;
const policies: Record<string, Recovery<unknown>> = {
  replay: replay({ windowMs: 100_000, after: query(lookup) }),
  query: query(lookup),
  "query with its own settling": query(lookup, { settleMs: 1_000 }),
  park: park(),
  rerun: rerun(),
};

const started: EffectRecord = {
  state: "started",
  epoch: 1,
  nonce: "n",
  attempts: 1,
  firstSentAtMs: AT - 10_000,
  deadlineAtMs: AT,
  inputHash: "i",
  providerKey: "k",
};

function factsOf(policy: string, nowMs: number): EffectFacts {
  const recover = policies[policy] as Recovery<unknown>;
  const settings = { timeoutMs: 10_000, settleMs: 60_000, ledgerSkewMs: 5_000 };
  return { inputHash: "i", recover, nowMs, ...settings };
}

describe("decideEffect", () => {
  test("starts what was never started, or certainly not sent", () => {
    const facts = factsOf("park", AT);
    expect(decideEffect(undefined, facts)).toEqual({ kind: "start" });
    expect(decideEffect({ ...started, state: "released" }, facts)).toEqual({ kind: "start" });
  });

  test("gives back what is done, under every policy and at any time", () => {
    for (const policy of Object.keys(policies)) {
      const facts = factsOf(policy, AT + 1e9);
      expect(decideEffect({ ...started, state: "done" }, facts)).toEqual({ kind: "stored" });
    }
  });

  test.each(["started", "unknown", "released", "done"] as const)(
    "does nothing for another input, %s as it is",
    (state) => {
      const facts = { ...factsOf("rerun", AT + 1e9), inputHash: "other" };
      expect(decideEffect({ ...started, state }, facts)).toEqual({ kind: "mismatch" });
    },
  );

  test.each([
    // Deadline and skew, and for all but replay the time in which a late landing settles.
    ["replay", "started", 5_000, "replay"],
    ["query", "started", 65_000, "query"],
    ["query with its own settling", "started", 6_000, "query"],
    ["park", "started", 65_000, "park"],
    ["rerun", "started", 65_000, "rerun"],
    ["query", "unknown", 65_000, "query"],
    ["park", "unknown", 65_000, "park"],
    ["rerun", "unknown", 65_000, "rerun"],
  ] as const)(
    "under %s waits with a %s effect until %i ms after its deadline",
    (policy, state, waitMs, kind) => {
      const at = (nowMs: number) => decideEffect({ ...started, state }, factsOf(policy, nowMs));
      const wait = { kind: "wait", untilMs: AT + waitMs + 1 };
      expect(at(AT - 9_000)).toEqual(wait);
      expect(at(AT + waitMs)).toEqual(wait);
      expect(at(AT + waitMs + 1)).toEqual({ kind });
    },
  );

  test("replays at once what ended without knowing: a late landing has the same key", () => {
    const unknown = { ...started, state: "unknown" } as const;
    expect(decideEffect(unknown, factsOf("replay", AT - 9_000))).toEqual({ kind: "replay" });
  });

  test("replays only while the whole attempt lies within the provider's window", () => {
    // First sent at AT - 10 s, window 100 s, attempt 10 s, skew 5 s.
    expect(decideEffect(started, factsOf("replay", AT + 75_000))).toEqual({ kind: "replay" });
    expect(decideEffect(started, factsOf("replay", AT + 75_001))).toEqual({ kind: "query" });
  });

  test("counts the window from the first send, however often it was replayed", () => {
    const again = { ...started, attempts: 5, deadlineAtMs: AT + 60_000 };
    expect(decideEffect(again, factsOf("replay", AT + 130_000))).toEqual({ kind: "query" });
  });
});
