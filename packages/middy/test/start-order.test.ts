import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import type { Lease, Turn } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { StartOrder } from "../start-order.ts";

/** Leases by their numbers; what has started is noted in the order in which it did. */
function setup(concurrency = 10) {
  const order = new StartOrder(concurrency, new Map());
  const started: number[] = [];
  const leases = Array.from({ length: 5 }, () => ({ turn: undefined }) as unknown as Lease);
  const note = (turn: Promise<Turn> | undefined, n: number) => {
    if (turn === undefined) started.push(n);
    else void turn.then(() => started.push(n));
  };
  const leaseOf = (n: number) => leases[n] as Lease;
  return {
    started,
    ask: (n: number) => {
      const [tenantId, jobId] = [parseTenantId("acme"), parseJobId(`${n}`)];
      note(order.turn(leaseOf(n), { tenantId, jobId, jobType: parseJobType("test.work") }), n);
    },
    askAlone: (n: number) => note(order.turnAlone(leaseOf(n)), 10 + n),
    leave: async (n: number) => {
      order.leave(leaseOf(n));
      await Promise.resolve();
    },
  };
}

describe("StartOrder", () => {
  test("starts those that wait in the order in which they asked", async () => {
    const { started, ask, leave } = setup(1);
    for (const n of [0, 1, 2]) ask(n);
    await leave(0);
    await leave(1);
    expect(started).toEqual([0, 1, 2]);
  });

  test("runs a suspect with no other beside it, and starts nothing while it waits or runs", async () => {
    const { started, ask, askAlone, leave } = setup();
    ask(0);
    ask(1);
    askAlone(1);
    ask(2);
    expect(started).toEqual([0, 1]);
    await leave(0);
    expect(started).toEqual([0, 1, 11]);
    await leave(1);
    expect(started).toEqual([0, 1, 11, 2]);
  });

  test("runs two suspects one after the other", async () => {
    const { started, ask, askAlone, leave } = setup();
    ask(0);
    ask(1);
    askAlone(0);
    askAlone(1);
    await Promise.resolve();
    expect(started).toEqual([0, 1, 10]);
    await leave(0);
    expect(started).toEqual([0, 1, 10, 11]);
  });

  test("forgets one whose run has ended while it waited", async () => {
    const { started, ask, leave } = setup(1);
    for (const n of [0, 1, 2]) ask(n);
    await leave(1);
    await leave(0);
    expect(started).toEqual([0, 2]);
  });
});
