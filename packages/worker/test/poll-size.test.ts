import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { PollSize, type PollSizeParts } from "../poll-size.ts";

function setup(parts: Partial<PollSizeParts> = {}) {
  const clock = new ManualClock();
  const size = new PollSize({ clock, fifo: true, maxReceiveCount: 100, ...parts });
  const bring = (receiveCount: number) =>
    size.note([
      { message: { messageId: "m", body: "", attributes: {}, sentAtMs: 0, receiveCount } },
    ]);
  return { clock, size, bring };
}

describe("the size of a poll", () => {
  test("is ten, and one on a FIFO queue that allows few receives", () => {
    expect(setup({ fifo: false, maxReceiveCount: 5 }).size.most).toBe(10);
    expect(setup({ maxReceiveCount: 100 }).size.most).toBe(10);
    expect(setup({ maxReceiveCount: 99 }).size.most).toBe(1);
  });

  test("is one for twelve hours after a message has come that has used half of its receives", async () => {
    const { clock, size, bring } = setup();
    bring(50);
    expect(size.most).toBe(10);
    bring(51);
    bring(1);
    expect(size.most).toBe(1);
    await clock.advance(43_199_000);
    expect(size.most).toBe(1);
    await clock.advance(1_000);
    expect(size.most).toBe(10);
  });
});
