import { elapsedMs, now } from "@leasehold/clock";
import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";

describe("ManualClock", () => {
  test("fires timers in due order, and in order of asking when due together", async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.schedule(20, () => fired.push("late"));
    clock.schedule(10, () => fired.push("first"));
    clock.schedule(10, () => fired.push("second"));

    await clock.advance(15);
    expect(fired).toEqual(["first", "second"]);
    await clock.advance(5);
    expect(fired).toEqual(["first", "second", "late"]);
  });

  test("shows each sleeper the time at which it was due", async () => {
    const clock = new ManualClock();
    const wokenAtMs: number[] = [];
    const loop = async () => {
      for (let round = 0; round < 3; round += 1) {
        await clock.sleep(7);
        wokenAtMs.push(clock.monotonicMs());
      }
    };
    void loop();

    await clock.advance(100);

    expect(wokenAtMs).toEqual([7, 14, 21]);
    expect(clock.monotonicMs()).toBe(100);
  });

  test("ends a sleep when its signal aborts, and leaves no timer behind", async () => {
    const clock = new ManualClock();
    const wake = new AbortController();
    const asleep = clock.sleep(1_000, wake.signal);

    wake.abort();
    await asleep;

    expect(clock.monotonicMs()).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  test("does not sleep on a signal that has aborted already", async () => {
    const clock = new ManualClock();
    await clock.sleep(1_000, AbortSignal.abort());
    expect(clock.pendingTimers).toBe(0);
  });

  test("fires overdue timers late after the loop was blocked", async () => {
    const clock = new ManualClock();
    const firedAtMs: number[] = [];
    clock.schedule(10, () => firedAtMs.push(clock.monotonicMs()));

    await clock.block(500);

    expect(firedAtMs).toEqual([500]);
  });
});

describe("elapsedMs", () => {
  test("sees a suspended machine on the wall clock", async () => {
    const clock = new ManualClock();
    const start = now(clock);
    await clock.advance(1_000);
    clock.stepWall(60_000);
    expect(elapsedMs(clock, start)).toBe(61_000);
  });

  test("is not fooled by a wall clock that steps back", async () => {
    const clock = new ManualClock();
    const start = now(clock);
    await clock.advance(1_000);
    clock.stepWall(-60_000);
    expect(elapsedMs(clock, start)).toBe(1_000);
  });
});
