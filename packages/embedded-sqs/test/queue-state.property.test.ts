import { ManualClock } from "@leasehold/clock/manual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reportOf, setupAccount } from "./account-setup.ts";

/** One request, or time that passes; `pick` chooses among the handles that were ever given. */
const step = fc.record({
  kind: fc.constantFrom(
    "send",
    "send late",
    "receive",
    "receive",
    "extend",
    "release",
    "delete",
    "pass",
  ),
  pick: fc.nat({ max: 200 }),
  seconds: fc.integer({ min: 1, max: 12 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface End {
  /** Receive count of each received message as the receives showed it, in their order. */
  readonly shownCounts: ReadonlyMap<string, readonly number[]>;
  readonly seen: ReadonlySet<string>;
  readonly sums: readonly {
    readonly name: string;
    readonly left: number;
    readonly right: number;
  }[];
}

/** Plays a history against a queue with a dead-letter queue, and adds up what the server counted. */
async function play(steps: readonly Step[]): Promise<End> {
  const { clock, account, queue } = setupAccount({}, new ManualClock());
  const dlq = await queue("dead");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dlq.arn, maxReceiveCount: 3 });
  const q = await queue("jobs", { VisibilityTimeout: "10", RedrivePolicy });
  const handles: string[] = [];
  const shownCounts = new Map<string, number[]>();
  for (const { kind, pick, seconds } of steps) {
    const handle = handles[pick % Math.max(1, handles.length)];
    if (kind === "send") await q.send("x");
    if (kind === "send late") await q.send("x", { DelaySeconds: seconds });
    if (kind === "pass") await clock.advance(seconds * 1000);
    if (kind === "receive") {
      for (const message of await q.receive({ MaxNumberOfMessages: 1 + (pick % 5) })) {
        handles.push(message.ReceiptHandle);
        const counts = shownCounts.get(message.MessageId) ?? [];
        counts.push(Number(message.Attributes?.["ApproximateReceiveCount"]));
        shownCounts.set(message.MessageId, counts);
      }
    }
    if (handle === undefined) continue;
    if (kind === "delete") await q.remove(handle);
    // A handle of a message that is gone is refused, which is one of the cases.
    if (kind === "extend") await q.change(handle, seconds).catch(() => {});
    if (kind === "release") await q.change(handle, 0).catch(() => {});
  }
  const jobs = reportOf(account, "jobs");
  const dead = reportOf(account, "dead");
  const seen = Object.entries(jobs).flatMap(([name, count]) => (count > 0 ? [name] : []));
  const standing = jobs.visible + jobs.inFlight + jobs.delayed;
  const shown = [...shownCounts.values()].flat().length;
  return {
    shownCounts,
    seen: new Set(seen),
    sums: [
      {
        name: "messages",
        left: jobs.sent,
        right: standing + jobs.deleted + jobs.movedToDeadLetter,
      },
      { name: "dead letters", left: jobs.movedToDeadLetter, right: dead.visible },
      { name: "receives", left: jobs.received, right: shown },
    ],
  };
}

const histories = fc.array(step, { maxLength: 80, size: "max" });

describe("the messages of a queue, over every history", () => {
  test("none appears or vanishes: sent = standing somewhere + deleted + dead-lettered", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        for (const { left, right } of (await play(steps)).sums) expect(left).toBe(right);
      }),
      { numRuns: 150 },
    );
  });

  test("each receive of a message shows one more than the receive before, up to the limit", async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        for (const counts of (await play(steps)).shownCounts.values()) {
          expect(counts).toEqual([1, 2, 3].slice(0, counts.length));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("the histories reach every state and every move (the generator is not vacuous)", async () => {
    const seen = new Set<string>();
    for (const steps of fc.sample(histories, { numRuns: 150, seed: 1 })) {
      for (const name of (await play(steps)).seen) seen.add(name);
    }
    expect([...seen].sort()).toEqual([
      "delayed",
      "deleted",
      "inFlight",
      "lapsed",
      "movedToDeadLetter",
      "received",
      "released",
      "sent",
      "visibilityChanged",
      "visible",
    ]);
  });
});
