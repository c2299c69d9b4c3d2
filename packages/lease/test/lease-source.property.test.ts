import { ManualClock } from "@leasehold/clock/manual";
import { type Lease, type LeaseEvent, openLeaseSource } from "@leasehold/lease";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ModelFault, modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";

const ENDINGS = ["ack", "retry", "release", "dead-letter"] as const;

/** What one of two workers does next, how long it takes, and what becomes of the calls meanwhile. */
interface Step {
  readonly worker: 0 | 1;
  readonly action: "claim" | "start" | (typeof ENDINGS)[number] | "drain" | "block";
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
    ...(["claim", "claim", "claim", "start", "start", "drain", "block"] as const),
    ...ENDINGS,
  ),
  thenMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 9_000 })),
  fault,
  faults: fc.integer({ min: 0, max: 8 }),
});

/** A run of two workers on three messages. */
async function setup() {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const messageIds = [await queue.send(), await queue.send(), await queue.send()];
  const events: LeaseEvent[] = [];
  const open = () =>
    openLeaseSource({
      queue,
      clock,
      options: { visibilityTimeoutMs: 12_000, extendEveryMs: 4_000 },
      onEvent: (event) => events.push(event),
      random: () => 0.3,
    });
  const leases: Lease[] = [];
  const asked = new Set<string>();
  return { clock, queue, messageIds, events, sources: [open(), open()] as const, leases, asked };
}

type Run = Awaited<ReturnType<typeof setup>>;

function act({ clock, sources, leases, asked }: Run, { worker, action, thenMs }: Step): unknown {
  const source = sources[worker];
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
      return clock.block(thenMs);
  }
}

/** Plays the steps; asks ten times a second who believes to hold what. */
async function play(steps: readonly Step[]): Promise<Run> {
  const run = await setup();
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

describe("two workers on one queue, over every history of faults", () => {
  test("never hold the same message at the same time", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        await play(steps);
      }),
      { numRuns: 60 },
    );
  });

  test("lose no message, whatever happens, and leave no timer behind", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const { clock, queue, messageIds, sources, leases, asked } = await play(steps);
        for (const lease of leases) void lease.release(0, "ended");
        await clock.advance(5_000);
        for (const source of sources) source.close();
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
      for (const event of (await play(steps)).events) {
        seen.add("cause" in event ? `${event.kind} (${event.cause})` : event.kind);
      }
    }
    expect([...seen].sort()).toEqual([
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
