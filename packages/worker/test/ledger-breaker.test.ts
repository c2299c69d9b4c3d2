import { ManualClock } from "@leasehold/clock/manual";
import type { JobEvent } from "@leasehold/job-run";
import { describe, expect, test } from "vitest";
import { LedgerBreaker } from "../ledger-breaker.ts";

const DOWN = { kind: "job.stopped", why: "store-down", during: "run" } as JobEvent;

function setup() {
  const clock = new ManualClock();
  const told: string[] = [];
  const state = { isThere: false, backs: 0 };
  const breaker = new LedgerBreaker({
    clock,
    ledger: { isReachable: async () => state.isThere, onEvent: () => {} },
    onEvent: (event) => {
      if (event.kind === "claim.ledger-down") told.push(`down, again in ${event.retryInMs}`);
      if (event.kind === "claim.ledger-back") told.push(`back after ${event.downForMs}`);
    },
    onBack: () => {
      state.backs += 1;
    },
  });
  return { clock, told, state, breaker };
}

describe("the ledger's breaker", () => {
  test("opens with the first run that could not reach the store, and asks less often each time", async () => {
    const { clock, told, breaker } = setup();
    breaker.hear({ ...DOWN, why: "busy" } as JobEvent);
    expect([breaker.isDown, breaker.reason]).toEqual([false, undefined]);
    breaker.hear(DOWN);
    breaker.hear(DOWN);
    await clock.advance(120_000);
    expect(breaker.isDown).toBe(true);
    expect(breaker.reason).toContain("has not answered for 120000 ms");
    expect(told.slice(0, 7)).toEqual(
      [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map((ms) => `down, again in ${ms}`),
    );
  });

  test("lets claims go on when the store answers, and pauses longer when it fails again soon", async () => {
    const { clock, told, state, breaker } = setup();
    breaker.hear(DOWN);
    state.isThere = true;
    await clock.advance(1_000);
    expect([breaker.isDown, state.backs]).toEqual([false, 1]);
    await clock.advance(5_000);
    breaker.hear(DOWN);
    await clock.advance(2_000);
    await clock.advance(61_000);
    breaker.hear(DOWN);
    expect(told).toEqual([
      ...["down, again in 1000", "back after 1000"],
      ...["down, again in 2000", "back after 2000"],
      "down, again in 1000",
    ]);
  });

  test("asks nothing any more once it is stopped", async () => {
    const { clock, told, breaker } = setup();
    breaker.hear(DOWN);
    breaker.stop();
    await clock.advance(60_000);
    expect([told.length, clock.pendingTimers]).toEqual([1, 0]);
  });
});
