import { ManualClock } from "@leasehold/clock/manual";
import type { ControlOutcome, OpenJob } from "@leasehold/job";
import type { Lease } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import type { Decision, HandlerOutcome } from "../job-ending.ts";
import { decideRecorded, decideStopped, type StopFacts } from "../stopped-run.ts";
import { decideTry } from "../try-decision.ts";

const FACTS: StopFacts = {
  nowMs: 1_000_000,
  receiveCount: 3,
  backoff: { baseMs: 5_000, capMs: 900_000 },
  settleAtMs: undefined,
};
const dead = { code: "permanent", detail: "no such customer" };

describe("a job that its ledger stops", () => {
  test.each<[string, ControlOutcome, Decision["ending"]]>([
    [
      "comes back when the ledger says",
      { kind: "busy", retryAtMs: 1_042_000 },
      { kind: "retry", delayMs: 42_000 },
    ],
    [
      "is no hot loop when that moment is past",
      { kind: "busy", retryAtMs: 900_000 },
      { kind: "retry", delayMs: 1_000 },
    ],
    [
      "comes back when its provider may be asked again",
      { kind: "held-back", retryAtMs: 1_005_000 },
      { kind: "retry", delayMs: 5_000 },
    ],
    ["is acked when it was done", { kind: "done" }, { kind: "ack" }],
    ["is acked when it was cancelled", { kind: "cancelled" }, { kind: "ack" }],
    ["is acked when its message is stored", { kind: "parked" }, { kind: "ack" }],
    [
      "is dead-lettered with its reason",
      { kind: "dead", reason: dead },
      { kind: "dead-letter", reason: dead },
    ],
    ["is let go when fenced", { kind: "fenced" }, { kind: "let-go", code: "fenced" }],
    ["is let go with its lease", { kind: "lease-lost" }, { kind: "let-go", code: "lease-lost" }],
    [
      "goes back at once in a drain",
      { kind: "draining" },
      { kind: "release", delayMs: 0, class: "ended" },
    ],
    [
      "goes back for longer each time while the store is down",
      { kind: "store-down" },
      { kind: "release", delayMs: 20_000, class: "store-down" },
    ],
  ])("%s", (_, outcome, ending) => {
    expect(decideStopped(outcome, FACTS)).toEqual({
      ...{ outcome: "stopped", stop: outcome.kind },
      ending,
    });
  });

  test("goes back no earlier than its effect of unknown outcome has settled", () => {
    const facts = { ...FACTS, settleAtMs: 1_090_000 };
    for (const kind of ["draining", "store-down"] as const) {
      expect(decideStopped({ kind }, facts).ending).toMatchObject({ delayMs: 90_000 });
    }
  });
});

describe("a decision that was recorded", () => {
  const ack: Decision = { outcome: "succeeded", ending: { kind: "ack" } };

  test("stands", () => {
    expect(decideRecorded(ack, { kind: "recorded" }, FACTS)).toBe(ack);
    expect(decideRecorded(ack, undefined, FACTS)).toBe(ack);
  });

  test("is no ack when effects are open or the ledger could not be reached", () => {
    const unsettled = { kind: "unsettled", retryAtMs: 1_030_000, effects: ["charge"] } as const;
    expect(decideRecorded(ack, unsettled, FACTS)).toEqual({
      outcome: "stopped",
      stop: "unsettled",
      ending: { kind: "retry", delayMs: 30_000 },
    });
    const down = { kind: "stopped", outcome: { kind: "store-down" } } as const;
    expect(decideRecorded(ack, down, FACTS)).toMatchObject({
      stop: "store-down",
      ending: { kind: "release" },
    });
  });

  test("is no dead letter when the job could not be recorded as dead", () => {
    const decision: Decision = {
      outcome: "dead-lettered",
      ending: { kind: "dead-letter", reason: dead },
    };
    const fenced = { kind: "stopped", outcome: { kind: "fenced" } } as const;
    expect(decideRecorded(decision, fenced, FACTS).ending.kind).toBe("let-go");
  });
});

describe("a try whose ledger has come to an outcome", () => {
  const lease = { canDeadLetter: true, message: { receiveCount: 1 } } as Lease;
  const policy = { backoff: FACTS.backoff } as never;
  const run = { policy, random: () => 0.5, clock: new ManualClock() };
  const decide = (effects: Partial<OpenJob>, handler: HandlerOutcome) =>
    decideTry(
      handler,
      {
        history: { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 },
        budgets: { failures: 5, interruptions: 5, crashes: 5 },
        effects: { isDone: false, settleAtMs: undefined, ...effects } as OpenJob,
      },
      { lease, run },
    );
  const handlers: readonly HandlerOutcome[] = [
    { kind: "returned", saidDone: true },
    { kind: "returned", saidDone: false },
    { kind: "threw", thrown: new Error("swallowed and thrown anew") },
    { kind: "threw", thrown: Object.assign(new Error("x"), { code: "PERMANENT_JOB_FAILURE" }) },
  ];

  test("ends by it, whatever its handler returns or throws", () => {
    for (const handler of handlers) {
      expect(decide({ outcome: { kind: "fenced" } }, handler)).toMatchObject({ stop: "fenced" });
    }
  });

  test("is acked when its record is done for good, whatever its handler returns or throws", () => {
    for (const handler of handlers) {
      expect(decide({ isDone: true }, handler)).toEqual({
        outcome: "succeeded",
        ending: { kind: "ack" },
      });
    }
  });
});
