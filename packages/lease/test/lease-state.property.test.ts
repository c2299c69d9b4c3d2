import {
  isOpen,
  type LeaseState,
  type LeaseStateEvent,
  LeaseTransitionError,
  transition,
} from "@leasehold/lease";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** One step of a history: time passes, then something happens. Short, so that leases live. */
interface Step {
  readonly afterMs: number;
  readonly event: (nowMs: number) => LeaseStateEvent;
}

const at = (ms: number) => ({ monotonicMs: ms, wallMs: ms });

/** Events without a moment of their own; the words that end a lease early are rare. */
const plain = fc
  .constantFrom(
    ...(["start", "start", "tick", "release", "refused", "let-go"] as const),
    ...(["confirmed", "confirmed", "confirmed", "not-applied", "unknown"] as const),
    "undeliverable" as const,
  )
  .map((kind) => () => ({ kind }));

const settle = fc
  .constantFrom("ack" as const, "retry" as const, "dead-letter" as const)
  .map((as) => () => ({ kind: "settle" as const, as }));

const longer = fc
  .constantFrom("extended" as const, "restored" as const)
  .map((kind) => (nowMs: number) => ({ kind, validUntil: at(nowMs + 30_000) }));

const shorter = fc
  .constantFrom("shortened" as const, "sent" as const, "sent" as const)
  .map((kind) => (nowMs: number) => ({ kind, validUntil: at(nowMs + 5_000) }));

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.integer({ min: 0, max: 9_000 }),
  event: fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 2, arbitrary: settle },
    { weight: 2, arbitrary: longer },
    { weight: 2, arbitrary: shorter },
  ),
});

/** One state of a history, with what led to it. */
interface Passed {
  readonly state: LeaseState;
  readonly by: LeaseStateEvent | undefined;
}

/** Every state a lease passes through. What no caller could say in a state is skipped. */
function replay(steps: readonly Step[]): readonly Passed[] {
  const passed: Passed[] = [{ state: { kind: "received", validUntil: at(30_000) }, by: undefined }];
  let nowMs = 0;
  for (const { afterMs, event: make } of steps) {
    nowMs += afterMs;
    const by = make(nowMs);
    const { state } = passed.at(-1) as Passed;
    try {
      passed.push({ state: transition(state, by, at(nowMs)), by });
    } catch (error) {
      if (!(error instanceof LeaseTransitionError)) throw error;
    }
  }
  return passed;
}

const histories = fc.array(step, { minLength: 10, maxLength: 30 }).map(replay);

/** The state, and how a settling lease settles. */
function name(state: LeaseState): string {
  if (state.kind === "lost") return `lost (${state.cause})`;
  return "as" in state ? `${state.kind} (${state.as})` : state.kind;
}

describe("a lease, over every history", () => {
  test("that ended never opens again", () => {
    fc.assert(
      fc.property(histories, (passed) => {
        const end = passed.findIndex(({ state }) => !isOpen(state));
        if (end === -1) return;
        for (const { state } of passed.slice(end)) expect(state).toEqual(passed[end]?.state);
      }),
    );
  });

  test("never swaps an ending that was decided, save a copy that is refused for a retry", () => {
    fc.assert(
      fc.property(histories, (passed) => {
        for (const [index, { state, by }] of passed.entries()) {
          const before = passed[index - 1]?.state;
          if (before?.kind === "settling" && "as" in state) {
            const isRefusedCopy = by?.kind === "undeliverable" && before.as === "dead-letter";
            expect(state.as).toBe(isRefusedCopy ? "retry" : before.as);
          }
          if (before?.kind === "settling") expect(state.kind).not.toMatch(/^releas/);
          if (before?.kind === "releasing") expect(state.kind).not.toMatch(/^(settling|done)$/);
        }
      }),
    );
  });

  test("is done or released only by a confirmed answer to a call of that ending", () => {
    fc.assert(
      fc.property(histories, (passed) => {
        for (const [index, { state, by }] of passed.entries()) {
          const before = passed[index - 1]?.state;
          if (before === undefined || !isOpen(before)) continue;
          if (state.kind !== "done" && state.kind !== "released") continue;
          expect(by?.kind).toBe("confirmed");
          expect(before).toHaveProperty("heldUntil");
          expect(before.kind).toBe(state.kind === "done" ? "settling" : "releasing");
        }
      }),
    );
  });

  test("is held longer only by an extension, or by proof that a shortening did nothing", () => {
    fc.assert(
      fc.property(histories, (passed) => {
        for (const [index, { state, by }] of passed.entries()) {
          const before = passed[index - 1]?.state;
          if (before === undefined || !isOpen(before) || !isOpen(state)) continue;
          if (state.validUntil.monotonicMs <= before.validUntil.monotonicMs) continue;
          expect(["extended", "restored", "not-applied", "unknown"]).toContain(by?.kind);
          if (by?.kind === "unknown") expect(name(state)).toMatch(/ack|dead-letter/);
        }
      }),
    );
  });

  test("passes through every state (the generator is not vacuous)", () => {
    const seen = fc
      .sample(histories, 2_000)
      .flatMap((passed) => passed.map((one) => name(one.state)));
    expect([...new Set(seen)].sort()).toEqual([
      "done (ack)",
      "done (dead-letter)",
      "done (retry)",
      "lapsing",
      "lost (expired)",
      "lost (late-answer)",
      "lost (refused)",
      "received",
      "released",
      "releasing",
      "running",
      "settling (ack)",
      "settling (dead-letter)",
      "settling (retry)",
    ]);
  });
});
