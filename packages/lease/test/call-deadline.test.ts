import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { CallDeadline, TooLateToSendError } from "../call-deadline.ts";

const never = new Promise<never>(() => undefined);

describe("CallDeadline", () => {
  test("hands on the answer that comes in time, and leaves no timer", async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 2_000);

    expect(await deadline.race(Promise.resolve("answer"))).toBe("answer");
    expect(clock.pendingTimers).toBe(0);
    expect(deadline.signal.aborted).toBe(false);
  });

  test("rejects at the deadline and aborts the call, whatever it waits for", async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 2_000);
    const answer = deadline.race(never).catch((error) => error);
    await clock.advance(1_999);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);

    expect(await answer).toMatchObject({
      name: "TimeoutError",
      message: "no answer within 2000 ms",
    });
    expect(deadline.signal.aborted).toBe(true);
  });

  test("lets nothing leave that a blocked event loop has held back", async () => {
    const clock = new ManualClock();
    const deadline = new CallDeadline(clock, 2_000);
    const sent: string[] = [];
    const send = deadline.stopLate(async (request: string) => void sent.push(request));
    await send("in time");
    const blocked = clock.block(2_000);
    await expect(send("late")).rejects.toThrow(TooLateToSendError);
    await blocked;

    expect(sent).toEqual(["in time"]);
  });

  test("ends when its caller aborts, also before it began", async () => {
    const clock = new ManualClock();
    const caller = new AbortController();
    const early = new CallDeadline(clock, 2_000, caller.signal).race(never).catch((error) => error);
    caller.abort();
    const late = new CallDeadline(clock, 2_000, caller.signal);

    expect(await early).toMatchObject({ name: "AbortError" });
    await expect(late.race(never)).rejects.toMatchObject({ name: "AbortError" });
    expect(late.signal.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });
});
