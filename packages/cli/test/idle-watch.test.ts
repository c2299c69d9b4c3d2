import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { ChangeBell, untilIdle } from "../idle-watch.ts";

function setup(confirmations: number) {
  const clock = new ManualClock();
  const bell = new ChangeBell();
  const stop = new AbortController();
  const queue = { unfinished: 2, asked: 0 };
  const watch = {
    confirmations,
    countUnfinished: async () => {
      queue.asked += 1;
      return queue.unfinished;
    },
    countSent: () => undefined,
    changed: (signal: AbortSignal) => bell.next(signal),
  };
  const state = { isIdle: false };
  const done = untilIdle(watch, stop.signal).then(() => {
    state.isIdle = true;
  });
  const change = async (unfinished: number) => {
    queue.unfinished = unfinished;
    bell.ring();
    await clock.settle();
  };
  return { clock, bell, stop, queue, state, done, change };
}

describe("waiting until the queues are empty", () => {
  test("asks only when something has changed, and ends when nothing is left", async () => {
    const { clock, queue, state, change } = setup(1);
    await clock.settle();
    await clock.advance(60_000);
    expect(queue.asked).toBe(1);

    await change(1);
    expect(state.isIdle).toBe(false);
    await change(0);

    expect(state.isIdle).toBe(true);
    expect(queue.asked).toBe(3);
  });

  test("believes a service that counts approximately only after several answers in a row", async () => {
    const { clock, state, change } = setup(3);
    await clock.settle();

    for (const unfinished of [0, 0, 1, 0, 0]) await change(unfinished);
    expect(state.isIdle).toBe(false);
    await change(0);

    expect(state.isIdle).toBe(true);
  });

  test("ends at once when it is called off", async () => {
    const { clock, stop, state, done } = setup(1);
    await clock.settle();

    stop.abort();
    await done;

    expect(state.isIdle).toBe(true);
  });

  test("a bell that nobody waits for rings in vain, and wakes all who wait", async () => {
    const bell = new ChangeBell();
    const { signal } = new AbortController();
    bell.ring();
    const waiting = Promise.all([bell.next(signal), bell.next(signal)]);

    bell.ring();

    expect(await waiting).toEqual([undefined, undefined]);
  });
});
