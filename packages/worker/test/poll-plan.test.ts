import { describe, expect, test } from "vitest";
import {
  crowdedPauseMs,
  earlyEmptyPauseMs,
  errorPauseMs,
  type PollFacts,
  planPoll,
  pollWaitMs,
  wantedPollsAfter,
} from "../poll-plan.ts";

const READY: PollFacts = {
  slots: 20,
  freeSlots: 20,
  room: { now: 20, most: 20 },
  freeForMs: 0,
  openPolls: 0,
  wantedPolls: 1,
  unconfirmedAcks: 0,
  lingerMs: 50,
  mostPerPoll: 10,
  pauseLeftMs: 0,
  isMemoryShort: false,
  isLedgerDown: false,
  holdRoom: Number.POSITIVE_INFINITY,
  isCrowded: false,
  isClosed: false,
};

/** A queue alone: all that is free is its room. */
function alone(slots: number, freeSlots: number): Partial<PollFacts> {
  return { slots, freeSlots, room: { now: freeSlots, most: slots } };
}

const ONE = { kind: "poll", maxMessages: 1 } as const;

describe("the next poll", () => {
  test.each<[string, Partial<PollFacts>, ReturnType<typeof planPoll>]>([
    ["asks for ten when ten are free", {}, { kind: "poll", maxMessages: 10 }],
    ["waits for company", { ...alone(20, 3), freeForMs: 20 }, { kind: "wait", forMs: 30 }],
    [
      "does not wait for ever",
      { ...alone(20, 3), freeForMs: 50 },
      { kind: "poll", maxMessages: 3 },
    ],
    ["takes all when there are fewer", alone(4, 4), { kind: "poll", maxMessages: 4 }],
    ["waits for a free slot", alone(20, 0), { kind: "wait" }],
    ["is enough", { openPolls: 1 }, { kind: "wait" }],
    ["waits for a pause to end", { pauseLeftMs: 700 }, { kind: "wait", forMs: 700 }],
    ["waits for acks", { unconfirmedAcks: 21 }, { kind: "wait" }],
    ["does not wait for a few acks", { unconfirmedAcks: 20 }, { kind: "poll", maxMessages: 10 }],
    ["waits for memory", { isMemoryShort: true }, { kind: "wait" }],
    [
      "asks for what is its own among queues",
      { room: { now: 2, most: 2 } },
      { kind: "poll", maxMessages: 2 },
    ],
    [
      "asks soon again when another queue has the turn",
      { room: { now: 0, most: 5 } },
      { kind: "wait", forMs: 100 },
    ],
    ["asks for one where it may bring no more", { mostPerPoll: 1 }, ONE],
    ["waits for no company then", { ...alone(20, 1), mostPerPoll: 1 }, ONE],
    ["asks for no more than may be held", { holdRoom: 3 }, { kind: "poll", maxMessages: 3 }],
    ["asks for one when no more may be held", { holdRoom: 0 }, { kind: "poll", maxMessages: 1 }],
    ["asks for nothing while a job runs alone", { isClosed: true }, { kind: "wait" }],
    [
      "asks for one while held messages stand in slots",
      { ...alone(20, 11), isCrowded: true, holdRoom: 0 },
      { kind: "poll", maxMessages: 1 },
    ],
    [
      "leaves half of the slots when held messages stand in them",
      { ...alone(20, 10), isCrowded: true, holdRoom: 0 },
      { kind: "wait" },
    ],
  ])("%s", (_, facts, step) => {
    expect(planPoll({ ...READY, ...facts })).toEqual(step);
  });
});

describe("the wait of a poll", () => {
  test("is short when it keeps slots from other queues, and long otherwise", () => {
    expect(pollWaitMs(20_000, 10, true)).toBe(1_000);
    expect(pollWaitMs(20_000, 1, true)).toBe(20_000);
    expect(pollWaitMs(20_000, 10, false)).toBe(20_000);
    expect(pollWaitMs(0, 10, true)).toBe(0);
  });
});

describe("the number of polls", () => {
  test("grows while polls bring work and slots are free, up to one more than fills them", () => {
    const room = { slots: 20, freeSlots: 5, mostPerPoll: 10 };
    expect([1, 2, 3].map((wanted) => wantedPollsAfter(wanted, 4, room))).toEqual([2, 3, 3]);
    expect(wantedPollsAfter(2, 4, { ...room, freeSlots: 0 })).toBe(2);
    expect(wantedPollsAfter(20, 1, { ...room, mostPerPoll: 1 })).toBe(21);
  });

  test("falls to one when a poll comes back empty", () => {
    expect(wantedPollsAfter(3, 0, { slots: 20, freeSlots: 20, mostPerPoll: 10 })).toBe(1);
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

  test("while held messages stand in slots grows from a second to half a minute", () => {
    expect([1, 2, 3, 6, 50].map(crowdedPauseMs)).toEqual([1_000, 2_000, 4_000, 30_000, 30_000]);
  });
});
