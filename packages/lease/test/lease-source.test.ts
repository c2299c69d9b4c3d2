import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { type LeaseEvent, openLeaseSource } from "../index.ts";

async function setup() {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const events: LeaseEvent[] = [];
  const source = openLeaseSource({
    queue,
    clock,
    onEvent: (event) => events.push(event),
    random: () => 0,
  });
  return { clock, queue, events, source };
}

describe("openLeaseSource", () => {
  test("claims, extends while the job runs, and deletes the message on ack", async () => {
    const { clock, queue, events, source } = await setup();
    await queue.send({ body: "hello" });
    const [lease] = await source.claim({ maxMessages: 10, waitMs: 0 });
    if (lease === undefined) throw new Error("nothing claimed");
    lease.start();
    await clock.advance(50_000);
    const acked = lease.ack();
    await clock.advance(100);
    expect(await acked).toEqual({ kind: "confirmed" });
    expect(queue.calls.map(({ kind, atMs }) => [kind, atMs])).toEqual([
      ["receive", 0],
      ["changeVisibility", 20_000],
      ["changeVisibility", 40_000],
      ["delete", 50_100],
    ]);
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 });
    expect(events.map(({ kind }) => kind)).toEqual([
      "lease.claimed",
      "lease.extension-call",
      "lease.extended",
      "lease.extension-call",
      "lease.extended",
      "lease.acked",
    ]);
    expect(clock.pendingTimers).toBe(0);
  });
});
