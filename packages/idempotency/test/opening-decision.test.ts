import { describe, expect, test } from "vitest";
import type { JobRecord } from "../ledger-record.ts";
import { decideOpening, isTooOldToProve } from "../opening-decision.ts";

const AT = 1_000_000;
const spent = { code: "attempts-exhausted", detail: "5 of 5 failed" };

function recordOf(fields: Partial<JobRecord>): JobRecord {
  const held = { state: "open", messageId: "m-1", receiveCount: 3, leaseUntilMs: AT + 30_000 };
  return { ...held, ...fields } as JobRecord;
}

const claim = {
  messageId: "m-1",
  receiveCount: 3,
  redriven: false,
  nowMs: AT,
  ledgerSkewMs: 5_000,
  longestBusyMs: 900_000,
};

describe("decideOpening", () => {
  test.each(["done", "parked", "cancelled"] as const)("says that the job is %s", (state) => {
    expect(decideOpening(recordOf({ state }), claim)).toEqual({ kind: state });
  });

  test("opens at once for a larger receive count of the same message", () => {
    const decision = decideOpening(recordOf({}), { ...claim, receiveCount: 4 });
    expect(decision).toEqual({ kind: "open", nextGeneration: false });
  });

  test("never opens for a smaller one, whenever it comes", () => {
    const late = { ...claim, receiveCount: 2, nowMs: AT + 1e9 };
    expect(decideOpening(recordOf({}), late)).toEqual({ kind: "fenced" });
  });

  test("opens for the same receipt, or another message, only after lease and skew", () => {
    for (const messageId of ["m-1", "m-2"]) {
      const at = (nowMs: number) => decideOpening(recordOf({}), { ...claim, messageId, nowMs });
      expect(at(AT + 35_000).kind).toBe("busy");
      expect(at(AT + 35_001)).toEqual({ kind: "open", nextGeneration: false });
    }
  });

  test("opens for any delivery once the worker has said that it ended", () => {
    const ended = recordOf({ leaseUntilMs: 0 });
    for (const receiveCount of [1, 3, 4]) {
      const decision = decideOpening(ended, { ...claim, receiveCount, nowMs: 1 });
      expect(decision).toEqual({ kind: "open", nextGeneration: false });
    }
  });

  test("puts off until then at the earliest, also beyond the longest wait", () => {
    const far = recordOf({ leaseUntilMs: AT + 2_000_000 });
    const decision = decideOpening(far, { ...claim, messageId: "m-2" });
    expect(decision).toEqual({ kind: "busy", retryAtMs: AT + 2_005_001 });
  });

  test("opens a dead job for a new message or an operator, and for nobody else", () => {
    const dead = recordOf({ state: "dead", reason: spent });
    expect(decideOpening(dead, { ...claim, receiveCount: 9 })).toEqual({
      kind: "dead",
      reason: spent,
    });
    const anew = { kind: "open", nextGeneration: true };
    expect(decideOpening(dead, { ...claim, messageId: "m-2", receiveCount: 1 })).toEqual(anew);
    expect(decideOpening(dead, { ...claim, redriven: true })).toEqual(anew);
  });
});

describe("isTooOldToProve", () => {
  const facts = { provableForMs: 1_000, restoredAtMs: 0 };

  test("is so once an earlier record may have expired before this one was made", () => {
    const at = (recordCreatedAtMs: number) =>
      isTooOldToProve({ ...facts, jobCreatedAtMs: AT, recordCreatedAtMs });
    expect(at(AT + 1_000)).toBe(false);
    expect(at(AT + 1_001)).toBe(true);
  });

  test("is so for a job from before a restore whose record is from after it", () => {
    const restored = { ...facts, provableForMs: 1e9, restoredAtMs: AT };
    const at = (jobCreatedAtMs: number, recordCreatedAtMs: number) =>
      isTooOldToProve({ ...restored, jobCreatedAtMs, recordCreatedAtMs });
    expect(at(AT - 1, AT + 5)).toBe(true);
    expect(at(AT - 5, AT - 1)).toBe(false);
    expect(at(AT, AT + 5)).toBe(false);
  });
});
