import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { Slots } from "../slots.ts";

async function setup(total: number) {
  const clock = new ManualClock();
  await clock.advance(100);
  return { clock, slots: new Slots(total, clock) };
}

describe("slots", () => {
  test("are never handed out twice", async () => {
    const { slots } = await setup(3);
    expect([slots.reserve(2), slots.reserve(2), slots.reserve(2)]).toEqual([2, 1, 0]);
    expect(slots.free).toBe(0);
  });

  test("pass from a poll to its runs and back", async () => {
    const { slots } = await setup(10);
    slots.reserve(10);
    slots.occupy(3);
    slots.unreserve(7);
    expect([slots.free, slots.busy]).toEqual([7, 3]);
    slots.vacate();
    expect([slots.free, slots.busy]).toEqual([8, 2]);
  });

  test("know since when one has been free", async () => {
    const { clock, slots } = await setup(2);
    slots.reserve(2);
    slots.occupy(2);
    await clock.advance(500);
    slots.vacate();
    await clock.advance(30);
    slots.vacate();
    expect(slots.freeSinceMs).toBe(600);
  });

  test("tell all who wait of room, each first in turn", async () => {
    const { slots } = await setup(3);
    const heard: string[] = [];
    slots.onFree(() => heard.push(`a${slots.free}`));
    slots.onFree(() => heard.push(`b${slots.free}`));
    slots.reserve(3);
    slots.unreserve(0);
    slots.unreserve(1);
    slots.unreserve(2);
    expect(heard).toEqual(["a1", "b1", "b3", "a3"]);
  });
});
