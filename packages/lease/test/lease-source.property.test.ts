import { ManualClock } from "@leasehold/clock/manual";
import { type Lease, type LeaseEvent, openLeaseSource } from "@leasehold/lease";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ModelFault, modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { BlockableLoop, startFarEnd } from "./near-and-far.ts";

const ENDINGS = ["ack", "retry", "release", "dead-letter"] as const;

/** What one of two workers does next, how long it takes, and what becomes of the calls meanwhile. */
interface Step {
  readonly worker: 0 | 1;
  readonly action: "claim" | "start" | (typeof ENDINGS)[number] | "drain" | "block" | "crash";
  readonly thenMs: number;
  readonly fault: ModelFault | undefined;
  /** How many calls meet the fault. */
  readonly faults: number;
}

/** A network that keeps to the hard timeout: a request arrives within it or never. */
const fault: fc.Arbitrary<ModelFault | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom<ModelFault>(
    { kind: "throttled" },
    { kind: "lost-reply" },
    { kind: "lost-request" },
    { kind: "server-error" },
  ),
  fc.record({
    kind: fc.constantFrom("slow-answer" as const, "slow-request" as const),
    delayMs: fc.integer({ min: 0, max: 1_900 }),
  }),
);

const step: fc.Arbitrary<Step> = fc.record({
  worker: fc.constantFrom(0 as const, 1 as const),
  action: fc.constantFrom<Step["action"]>(
    ...(["claim", "claim", "claim", "start", "start", "drain", "block", "crash"] as const),
    ...ENDINGS,
  ),
  thenMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 9_000 })),
  fault,
  faults: fc.integer({ min: 0, max: 8 }),
});

/** Where leases are extended. */
type Place = "inline" | "thread";

/** A run of two workers on three messages. */
async function setup(place: Place) {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const messageIds = [await queue.send(), await queue.send(), await queue.send()];
  const events: LeaseEvent[] = [];
  const random = () => 0.3;
  const open = () => {
    const loop = new BlockableLoop(clock);
    const farEnd =
      place === "thread" ? startFarEnd({ clock, loop, queue, random, maxBlockedMs: 5_000 }) : null;
    const source = openLeaseSource({
      ...{ queue, random },
      clock: farEnd === null ? clock : loop,
      options: { visibilityTimeoutMs: 12_000, extendEveryMs: 4_000 },
      onEvent: (event) => events.push(event),
      ...(farEnd !== null && { extenderThread: farEnd.thread }),
    });
    return { source, loop, farEnd };
  };
  const workers = [open(), open()] as const;
  const leases: Lease[] = [];
  const asked = new Set<string>();
  return { clock, queue, messageIds, events, workers, leases, asked };
}

type Run = Awaited<ReturnType<typeof setup>>;

function act({ clock, workers, leases, asked }: Run, { worker, action, thenMs }: Step): unknown {
  const { source, loop, farEnd } = workers[worker];
  const lease = source.held()[0];
  if (lease !== undefined && (action === "ack" || action === "dead-letter")) {
    asked.add(lease.ref.messageId);
  }
  switch (action) {
    case "claim":
      return source.claim({ maxMessages: 2, waitMs: 0 }).then(
        (claimed) => leases.push(...claimed),
        () => undefined, // A claim that failed is the loop's affair.
      );
    case "start":
      return lease?.state === "received" && lease.remainingMs() > 0 ? lease.start() : undefined;
    case "ack":
      return lease?.ack();
    case "retry":
      return lease?.retry(1_000);
    case "release":
      return lease?.release(0, "ended");
    case "dead-letter":
      return lease?.deadLetter({ code: "permanent", detail: "?" });
    case "drain":
      return source.beginDrain(clock.monotonicMs() + 30_000);
    case "block":
      return farEnd === null ? clock.block(thenMs) : loop.block(thenMs);
    case "crash":
      return farEnd?.crash();
  }
}

/** Plays the steps; asks ten times a second who believes to hold what. */
async function play(steps: readonly Step[], place: Place): Promise<Run> {
  const run = await setup(place);
  const { clock, queue, leases } = run;
  for (const one of steps) {
    let faultsLeft = one.faults;
    queue.fault = () => {
      faultsLeft -= 1;
      return faultsLeft >= 0 ? one.fault : undefined;
    };
    const acted = act(run, one);
    if (one.action === "block") await acted;
    for (let passedMs = 0; passedMs < one.thenMs; passedMs += 100) {
      await clock.advance(Math.min(100, one.thenMs - passedMs));
      const held = leases.filter((lease) => lease.remainingMs() > 0);
      const messages = new Set(held.map(({ ref }) => ref.messageId));
      expect(messages.size, "one message, two owners").toBe(held.length);
    }
  }
  queue.fault = () => undefined;
  return run;
}

const histories = fc.array(step, { minLength: 12, maxLength: 40 });

const places = [["inline"], ["thread"]] as const;

describe.each(places)("two workers that extend %s, over every history of faults", (place) => {
  test("never hold the same message at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        await play(steps, place);
      }),
      { numRuns: 60 },
    );
  });

  test("lose no message, whatever happens, and leave no timer behind", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const { clock, queue, messageIds, workers, leases, asked } = await play(steps, place);
        for (const lease of leases) void lease.release(0, "ended");
        await clock.advance(5_000);
        for (const { source, farEnd } of workers) {
          source.close();
          farEnd?.thread.close();
        }
        await clock.advance(20_000);
        expect(clock.pendingTimers).toBe(0);

        const receipts = await queue.receive({
          maxMessages: 10,
          waitMs: 0,
          visibilityTimeoutMs: 30_000,
        });
        const there = new Set(receipts.map(({ message }) => message.messageId));
        expect(messageIds.filter((id) => !there.has(id) && !asked.has(id))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("meet everything that can happen to a lease (the generator is not vacuous)", async () => {
    const seen = new Set<string>();
    for (const steps of fc.sample(histories, { numRuns: 150, seed: 1 })) {
      for (const event of (await play(steps, place)).events) {
        seen.add("cause" in event ? `${event.kind} (${event.cause})` : event.kind);
      }
    }
    const ofThread = ["lease.extender-failed", "lease.loop-blocked"];
    expect([...seen].filter((kind) => ofThread.includes(kind)).sort()).toEqual(
      place === "thread" ? ofThread : [],
    );
    expect([...seen].filter((kind) => !ofThread.includes(kind)).sort()).toEqual([
      "lease.acked",
      "lease.claimed",
      "lease.dead-lettered",
      "lease.extended",
      "lease.extension-call",
      "lease.extension-failed",
      "lease.lapsing",
      "lease.lost (expired)",
      "lease.lost (late-answer)",
      "lease.released",
      "lease.retried",
      "lease.settle-failed",
    ]);
  });
});
