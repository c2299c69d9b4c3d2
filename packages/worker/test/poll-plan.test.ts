import { describe, expect, test } from "vitest";
import {
  earlyEmptyPauseMs,
  errorPauseMs,
  type PollFacts,
  planPoll,
  wantedPollsAfter,
} from "../poll-plan.ts";

const READY: PollFacts = {
  slots: 20,
  freeSlots: 20,
  freeForMs: 0,
  openPolls: 0,
  wantedPolls: 1,
  isIdle: false,
  sharesSlots: false,
  unconfirmedAcks: 0,
  lingerMs: 50,
  pauseLeftMs: 0,
};

describe("the next poll", () => {
  test.each<[string, Partial<PollFacts>, ReturnType<typeof planPoll>]>([
    ["asks for ten when ten are free", {}, { kind: "poll", maxMessages: 10 }],
    ["waits for company", { freeSlots: 3, freeForMs: 20 }, { kind: "wait", forMs: 30 }],
    ["does not wait for ever", { freeSlots: 3, freeForMs: 50 }, { kind: "poll", maxMessages: 3 }],
    [
      "takes all when there are fewer",
      { slots: 4, freeSlots: 4 },
      { kind: "poll", maxMessages: 4 },
    ],
    ["waits for a free slot", { freeSlots: 0 }, { kind: "wait" }],
    ["is enough", { openPolls: 1 }, { kind: "wait" }],
    ["waits for a pause to end", { pauseLeftMs: 700 }, { kind: "wait", forMs: 700 }],
    ["waits for acks", { unconfirmedAcks: 21 }, { kind: "wait" }],
    ["does not wait for a few acks", { unconfirmedAcks: 20 }, { kind: "poll", maxMessages: 10 }],
    [
      "reserves one slot for an idle queue among others",
      { isIdle: true, sharesSlots: true },
      { kind: "poll", maxMessages: 1 },
    ],
    ["reserves all for an idle queue alone", { isIdle: true }, { kind: "poll", maxMessages: 10 }],
  ])("%s", (_, facts, step) => {
    expect(planPoll({ ...READY, ...facts })).toEqual(step);
  });
});

describe("the number of polls", () => {
  test("grows while polls bring work and slots are free, up to one more than fills them", () => {
    const room = { slots: 20, freeSlots: 5 };
    expect([1, 2, 3].map((wanted) => wantedPollsAfter(wanted, 4, room))).toEqual([2, 3, 3]);
    expect(wantedPollsAfter(2, 4, { slots: 20, freeSlots: 0 })).toBe(2);
  });

  test("falls to one when a poll comes back empty", () => {
    expect(wantedPollsAfter(3, 0, { slots: 20, freeSlots: 20 })).toBe(1);
  });
});

describe("the pause", () => {
  test("after errors doubles up to half a minute, and jitters over all of it", () => {
    expect([1, 2, 3, 8, 20].map((errors) => errorPauseMs(errors, 0.5))).toEqual([
      200, 400, 800, 15_000, 15_000,
    ]);
    expect([1, 2, 10, 2_000].map((errors) => errorPauseMs(errors, 0))).toEqual([
      50, 100, 500, 30_000,
    ]);
  });

  test("after answers that came too early grows up to five seconds", () => {
    expect([1, 2, 3, 7, 50].map(earlyEmptyPauseMs)).toEqual([100, 200, 400, 5_000, 5_000]);
  });
});
