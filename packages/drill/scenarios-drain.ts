/** SIGTERM with or without work in hand. */

import { finishWith, firstAtWork, LONG, takeOver } from "./acts.ts";
import type { Scenario } from "./scenario.ts";

/** Signals that follow within this time count as one. */
const REPEAT_MS = 1_000;
/** Where in the last second of a poll a message comes. */
const BEFORE_END_MS = 700;

/** Drains. */
export const drainScenarios: readonly Scenario[] = [
  {
    name: "idle with an open poll",
    story: "Nothing is in hand and a long poll is open: the worker ends as soon as that poll does.",
    work: () => ({ do: "work", forMs: 100 }),
    play: async (stage) => {
      const first = await stage.start("first");
      await first.request("a poll", ({ action }) => action === "ReceiveMessage");
      await first.line("worker.ready");
      await stage.stop(first);
    },
    expect: {},
  },
  {
    name: "message in the last second of a poll",
    story: "The open poll brings a message after SIGTERM: it is not started and goes back at once.",
    work: () => ({ do: "work", forMs: 100 }),
    play: async (stage) => {
      const first = await stage.start("first");
      await first.line("worker.ready");
      const poll = await first.request("a poll", ({ action }) => action === "ReceiveMessage");
      first.signal("SIGTERM");
      await first.line("drain.started");
      await stage.until(poll.arrivedAtMs + stage.waitMs - BEFORE_END_MS);
      await stage.send();
      await first.exited();
      const second = await stage.start("second");
      await stage.quiet();
      await stage.stop(second);
    },
    expect: {},
  },
  {
    name: "short jobs",
    story: "Every job in hand ends before the deadline and is acked; the rest waits for the next.",
    work: () => ({ do: "work", forMs: 1_500 }),
    play: async (stage) => {
      const first = await stage.start("first");
      await stage.send(12);
      await first.started(4);
      await stage.stop(first);
      const second = await stage.start("second");
      await stage.quiet();
      await stage.stop(second);
    },
    expect: {},
  },
  {
    name: "long job past the deadline",
    story: "The job is aborted at the drain deadline and released; another worker has it at once.",
    work: () => LONG,
    play: async (stage) => {
      const first = await firstAtWork(stage);
      first.signal("SIGTERM");
      const second = await stage.start("second");
      await first.exited();
      await finishWith(stage, second);
    },
    expect: { exits: { first: 75 } },
  },
  {
    name: "quiet return after the abort",
    story: "A handler that returns because it was aborted has not finished: its job runs again.",
    work: () => ({ ...LONG, do: "return-quietly" }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      await stage.stop(first);
      await takeOver(stage);
    },
    expect: { exits: { first: 75 }, deletesNothing: ["first"] },
  },
  {
    name: "job ignoring its abort",
    story: "The worker names it, hides its message until the process is gone, and exits with 76.",
    work: () => ({ ...LONG, do: "ignore-abort" }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      await stage.stop(first);
      await takeOver(stage);
    },
    expect: { exits: { first: 76 }, says: { first: /"ignored_abort":true/ } },
  },
  {
    name: "job blocking the loop",
    story: "No handler and no signal is heard any more: a thread ends the process before the kill.",
    work: () => ({ do: "block-in-drain", forMs: 120_000, thenMs: 0 }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      await stage.stop(first);
      await takeOver(stage);
    },
    expect: {
      exits: { first: 143 },
      says: { first: /the event loop is blocked/ },
      backWithinMs: ({ drain }) => drain.taperAfterMs + 3_000,
    },
  },
  {
    name: "double SIGTERM",
    story: "Two signals within a second are one: the job may still end by itself.",
    work: () => ({ do: "work", forMs: 3_000 }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      first.signal("SIGTERM");
      await first.line("drain.started");
      await stage.stop(first);
    },
    expect: {},
  },
  {
    name: "ladder of signals",
    story:
      "The second signal aborts, the third releases what does not stop, long before deadlines.",
    work: () => ({ ...LONG, do: "ignore-abort" }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      const atMs = first.signal("SIGTERM");
      await stage.until(atMs + REPEAT_MS + 200);
      first.signal("SIGTERM");
      await first.line("job.aborted");
      await stage.until(atMs + 2 * (REPEAT_MS + 200));
      first.signal("SIGTERM");
      await first.exited();
      await takeOver(stage);
    },
    expect: { exits: { first: 76 } },
  },
  {
    name: "ladder while SQS is silent",
    story: "Nothing can be released: the exit code says that the lease runs out, and soon it has.",
    work: () => ({ ...LONG, do: "ignore-abort" }),
    play: async (stage) => {
      const first = await firstAtWork(stage);
      first.disturb([{ fault: { kind: "hung" } }]);
      const atMs = first.signal("SIGTERM");
      for (const nth of [1, 2]) {
        await stage.until(atMs + nth * (REPEAT_MS + 200));
        first.signal("SIGTERM");
      }
      await first.exited();
      await takeOver(stage);
    },
    expect: {
      exits: { first: 74 },
      backWithinMs: ({ lease }) => lease.visibilityTimeoutMs + 1_000,
    },
  },
  {
    name: "ack in flight at the deadline",
    story:
      "A job ends just before the deadline and its delete is slow: it is acked, never released.",
    work: ({ drain }) => ({ do: "end-in-drain", forMs: drain.drainMs - 300, thenMs: 100 }),
    play: async (stage) => {
      const first = await stage.start("first");
      first.disturb([
        {
          fault: { kind: "latency", side: "after", delayMs: 600 },
          actions: ["DeleteMessage", "DeleteMessageBatch"],
        },
      ]);
      await stage.send();
      await first.started(1);
      await stage.stop(first);
      await stage.quiet();
    },
    expect: {},
  },
];
