import { isOpen, type LeaseState, LeaseTransitionError, transition } from "@leasehold/lease";
import { describe, expect, test } from "vitest";

/** A moment at which both clocks say the same. */
const at = (ms: number) => ({ monotonicMs: ms, wallMs: ms });

const received: LeaseState = { kind: "received", validUntil: at(59_000) };
const running: LeaseState = { kind: "running", validUntil: at(59_000) };
const acking: LeaseState = { kind: "settling", as: "ack", validUntil: at(59_000) };
const releasing: LeaseState = { kind: "releasing", validUntil: at(59_000) };

describe("transition", () => {
  test("runs a received message, and nothing else", () => {
    expect(transition(received, { kind: "start" }, at(0))).toEqual(running);
    expect(() => transition(running, { kind: "start" }, at(0))).toThrow(LeaseTransitionError);
  });

  test("lets the first of settle and release win", () => {
    expect(transition(running, { kind: "settle", as: "ack" }, at(0))).toEqual(acking);
    expect(transition(acking, { kind: "release" }, at(0))).toBe(acking);
    expect(transition(running, { kind: "release" }, at(0))).toEqual(releasing);
    expect(transition(releasing, { kind: "settle", as: "retry" }, at(0))).toBe(releasing);
    expect(transition({ kind: "released" }, { kind: "release" }, at(0))).toEqual({
      kind: "released",
    });
  });

  test("releases what never ran, but settles only what did", () => {
    expect(transition(received, { kind: "release" }, at(0))).toEqual(releasing);
    expect(() => transition(received, { kind: "settle", as: "ack" }, at(0))).toThrow(
      'a lease that is received cannot take "settle"',
    );
  });

  test("loses a lease in the millisecond in which it runs out", () => {
    expect(transition(running, { kind: "tick" }, at(58_999))).toBe(running);
    expect(transition(running, { kind: "tick" }, at(59_000))).toEqual({
      kind: "lost",
      cause: "expired",
    });
  });

  test("loses a lease that ran out on the wall clock only", () => {
    const suspended = { monotonicMs: 10, wallMs: 59_000 };
    expect(transition(running, { kind: "tick" }, suspended)).toMatchObject({ kind: "lost" });
  });

  test("does not believe an extension that is answered too late", () => {
    const extended = { kind: "extended", validUntil: at(99_000) } as const;
    expect(transition(running, extended, at(58_999))).toEqual({
      kind: "running",
      validUntil: at(99_000),
    });
    expect(transition(running, extended, at(59_000))).toEqual({
      kind: "lost",
      cause: "late-answer",
    });
  });

  test("lets the answer decide, not the clock, while a release is out", () => {
    const sent = transition(releasing, { kind: "sent", validUntil: at(-1_000) }, at(0));
    expect(sent).toEqual({
      kind: "releasing",
      validUntil: at(-1_000),
      heldUntil: at(59_000),
    });
    expect(transition(sent, { kind: "tick" }, at(70_000))).toBe(sent);
    expect(transition(sent, { kind: "confirmed" }, at(70_000))).toEqual({ kind: "released" });
    expect(transition(sent, { kind: "unknown" }, at(1))).toEqual({ kind: "lapsing" });
    expect(transition(sent, { kind: "not-applied" }, at(1))).toEqual(releasing);
    expect(transition(sent, { kind: "not-applied" }, at(59_000))).toMatchObject({ kind: "lost" });
  });

  test("goes on with an ack whose answer is unknown, because it may be repeated", () => {
    const sent = transition(acking, { kind: "sent" }, at(0));
    expect(transition(sent, { kind: "unknown" }, at(1))).toEqual(acking);
    expect(transition(sent, { kind: "unknown" }, at(59_000))).toMatchObject({ kind: "lost" });
    expect(transition(sent, { kind: "confirmed" }, at(99_000))).toEqual({
      kind: "done",
      as: "ack",
    });
  });

  test("lowers a tapered lease at once and restores it on proof only", () => {
    const lowered = transition(running, { kind: "shortened", validUntil: at(30_000) }, at(0));
    expect(lowered).toEqual({ kind: "running", validUntil: at(30_000) });
    const restored = { kind: "restored", validUntil: at(59_000) } as const;
    expect(transition(lowered, restored, at(1))).toEqual(running);
  });

  test("never changes a lease that has ended", () => {
    const lost: LeaseState = { kind: "lost", cause: "expired" };
    expect(isOpen(lost)).toBe(false);
    expect(transition(lost, { kind: "tick" }, at(99_000))).toBe(lost);
    expect(transition(lost, { kind: "settle", as: "ack" }, at(99_000))).toBe(lost);
    expect(() => transition(lost, { kind: "confirmed" }, at(0))).toThrow(LeaseTransitionError);
  });
});
