/** What happens to every library on the stage, and what Leasehold promises to come of it. */

import type { WireRule } from "./tapped-wire.ts";
import { pass, type TrialStage } from "./trial-stage.ts";

/** What Leasehold must come to, whatever the machine does. */
export interface ExpectedPair {
  readonly duplicated: number;
  readonly stranded: number;
  readonly because: string;
}

/** One scenario; every library plays it alone, on a queue of its own. */
export interface ShutdownScenario {
  readonly name: string;
  /** Jobs that the worker runs at once. */
  readonly concurrency: number;
  readonly fifo?: true;
  /** What the wire does to its requests; nothing unless told. */
  readonly wire?: WireRule;
  readonly expected: ExpectedPair;
  /** From a worker that claims to one that has been asked to stop. */
  play(stage: TrialStage): Promise<unknown>;
}

/** Shorter than the hard timeout of a call, so that an answer comes, late. */
const LATE_MS = 400;
const firstExtensionLate: WireRule = ({ isExtension, earlier }) =>
  isExtension && earlier === 0 ? { holdMs: LATE_MS } : "pass";
/** More than the SDK's own three attempts at one request. */
const firstExtensionsFail: WireRule = ({ isExtension, earlier }) =>
  isExtension && earlier < 4 ? "refuse" : "pass";
const noExtensionArrives: WireRule = ({ isExtension }) => (isExtension ? "refuse" : "pass");

/** Every scenario, in the order of the table. */
export const shutdownScenarios: readonly ShutdownScenario[] = [
  {
    name: "message arriving after stop",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "open polls are awaited; what they bring is released unstarted",
    },
    play: async (stage) => {
      await stage.pollIsOpen();
      await stage.stop();
      await stage.send({ jobId: "late" });
    },
  },
  {
    name: "abort with a finished job",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "acks have a client of their own that no shutdown cancels",
    },
    play: async (stage) => {
      await stage.send({ jobId: "finishing", do: "until-told", forMs: 60_000, insists: true });
      await stage.started("finishing");
      await stage.abort();
      stage.tell();
    },
  },
  {
    name: "drain timeout with a running job",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "at the deadline the handler is asked to stop and its lease is released",
    },
    play: async (stage) => {
      await stage.send({ jobId: "long", forMs: 60_000 });
      await stage.started("long");
      await stage.stop();
    },
  },
  {
    name: "late extension against ack",
    concurrency: 10,
    wire: firstExtensionLate,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "a message that is deleted stays deleted, and not found is no fault then",
    },
    play: async (stage) => {
      await stage.send({ jobId: "acked", do: "until-told", forMs: 60_000 });
      await stage.held;
      stage.tell();
      await stage.done("acked");
      await stage.stop();
    },
  },
  {
    name: "late extension against release",
    concurrency: 10,
    wire: firstExtensionLate,
    expected: {
      duplicated: 0,
      stranded: 0,
      because:
        "the message is given back only after the extension that is out, which would undo it",
    },
    play: async (stage) => {
      await stage.send({ jobId: "retried", do: "fail-when-told" });
      await stage.held;
      stage.tell();
      await stage.effectsReach(1, 4_000);
      await stage.stop();
    },
  },
  {
    name: "hard stop with an open poll",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 1,
      because:
        "one second is too short for the open poll to return, which would take a released message " +
        "with it into the grave: it stays hidden until that poll is over, not for its whole timeout",
    },
    play: async (stage) => {
      await stage.send({ jobId: "cut", forMs: 60_000 });
      await stage.started("cut");
      await stage.pollBegins();
      await stage.abort();
    },
  },
  {
    name: "failed extension",
    concurrency: 10,
    wire: firstExtensionsFail,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "an extension is tried again, with short pauses, until the lease is over",
    },
    play: async (stage) => {
      await stage.send({ jobId: "extended", forMs: 12_000 });
      await stage.done("extended");
      await stage.stop();
    },
  },
  {
    name: "poison body",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "what is no job is dead-lettered with its reason at the first receive",
    },
    play: async (stage) => {
      await stage.sendBody("{ not JSON");
      await stage.send({ jobId: "healthy" });
      await stage.done("healthy");
      await pass(2_000);
      await stage.stop();
    },
  },
  {
    name: "same message twice",
    concurrency: 20,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "a twin waits for the run of its message and is settled with it",
    },
    play: async (stage) => {
      await stage.send({ jobId: "twin", do: "until-told", forMs: 60_000 });
      await stage.started("twin");
      await stage.deliverAgain("twin");
      stage.tell();
      await stage.done("twin");
      await pass(500);
      await stage.stop();
    },
  },
  {
    name: "batch with one slow job",
    concurrency: 10,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "a slot that is free is filled; nobody waits for the slowest of a batch",
    },
    play: async (stage) => {
      await stage.send({ jobId: "slow", do: "until-told", forMs: 60_000 }, ...quick("first", 9));
      await stage.started("slow");
      await stage.send(...quick("second", 10));
      await stage.effectsReach(19, 3_000);
      await stage.stop();
      stage.tell();
    },
  },
  {
    name: "lost lease with a long job",
    concurrency: 1,
    wire: noExtensionArrives,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "its own clock tells the worker that the lease is over, before SQS does",
    },
    play: async (stage) => {
      await stage.send({ jobId: "lost", forMs: 14_000 });
      await stage.started("lost");
      stage.startSuccessor();
      await Promise.race([stage.gaveUp("lost"), stage.done("lost")]);
      await stage.settled();
      await stage.stop();
    },
  },
  {
    name: "FIFO group with a failing first message",
    concurrency: 10,
    fifo: true,
    expected: {
      duplicated: 0,
      stranded: 0,
      because: "the group waits for its head, which is retried in place",
    },
    play: async (stage) => {
      await stage.send(
        { jobId: "first", do: "fail-first" },
        { jobId: "second" },
        { jobId: "third" },
      );
      await stage.effectsReach(3, 6_000);
      await pass(500);
      await stage.stop();
    },
  },
];

function quick(name: string, count: number) {
  return Array.from({ length: count }, (_, n) => ({ jobId: `${name}-${n}` }));
}
