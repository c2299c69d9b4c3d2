import { PermanentJobError, RetryLaterError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import {
  openWorld,
  type TestHandler,
  type WorldOptions,
} from "../../../test/support/worker-world.ts";

/** A worker of a FIFO queue; `runs` says which job started and ended when. */
async function setup(
  handler: (n: number, attempt: number) => unknown = () => undefined,
  { contract, ...more }: WorldOptions & { readonly maxReceiveCount?: number } = {},
) {
  const { maxReceiveCount = 1_000, ...options } = more;
  const runs: string[] = [];
  const noted: TestHandler = async ({ payload: { n } }, { attempt }) => {
    runs.push(`${n} at ${world.clock.monotonicMs()}`);
    await handler(n, attempt);
  };
  const world = await openWorld({
    queue: { name: "jobs.fifo", maxReceiveCount },
    handler: noted,
    contract: { queues: [{ name: "jobs.fifo", maxReceiveCount }], ...contract },
    ...options,
  });
  const start = async () => {
    void world.worker.start();
    await world.clock.settle();
  };
  const fail = () => Promise.reject(new Error("fails"));
  const visibilities = () =>
    world.queue.calls
      .filter(({ kind }) => kind === "changeVisibility")
      .map(({ atMs, visibilityTimeoutsMs }) => [atMs, visibilityTimeoutsMs]);
  return { ...world, start, runs, fail, visibilities };
}

describe("a worker of a FIFO queue", () => {
  test("runs one job of a group at a time, in order, and groups side by side (bbc/sqs-consumer 124)", async () => {
    const world = await setup(() => world.clock.sleep(1_000));
    await world.sendTo("a", 1, 2, 3);
    await world.sendTo("b", 11, 12);
    await world.start();
    await world.clock.advance(4_000);
    expect(world.runs).toEqual(["1 at 0", "11 at 0", "2 at 1000", "12 at 1000", "3 at 2000"]);
    expect(world.worker.snapshot().slots.busy).toBe(0);
  });

  test("starts the next one when the delete of the last one is confirmed", async () => {
    const world = await setup();
    world.queue.fault = ({ kind }) =>
      kind === "delete" ? { kind: "slow-answer", delayMs: 700 } : undefined;
    await world.sendTo("a", 1, 2);
    await world.start();
    await world.clock.advance(3_000);
    expect(world.runs).toEqual(["1 at 0", "2 at 700"]);
  });

  test("tries a failed job again where it is, and lets its group wait at no receive (JaidenAshmore/java-dynamic-sqs-listener 369)", async () => {
    const attempts: number[] = [];
    const world = await setup((n, attempt) => {
      if (n === 1) attempts.push(attempt);
      return n === 1 && attempts.length < 4 ? world.fail() : undefined;
    });
    await world.sendTo("a", 1, 2, 3);
    await world.start();
    await world.clock.advance(60_000);
    expect(world.runs).toEqual([
      "1 at 0",
      "1 at 2500",
      "1 at 7500",
      "1 at 17500",
      "2 at 17500",
      "3 at 17500",
    ]);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(world.heard("lease.claimed").map(({ lease }) => lease.receiveCount)).toEqual([1, 1, 1]);
    expect(world.heard("lease.acked")).toHaveLength(3);
  });

  test("waits for a failed job for five visibility timeouts at most", async () => {
    const world = await setup((n) => (n === 1 ? world.fail() : undefined), {
      contract: { worker: { backoffBaseMs: 400_000 } },
    });
    await world.sendTo("a", 1, 2);
    await world.start();
    await world.clock.advance(110_000);
    expect(world.runs).toEqual(["1 at 0", "1 at 50000", "1 at 100000"]);
    expect(world.heard("job.ended").map(({ delayMs }) => delayMs)).toEqual(Array(3).fill(50_000));
  });

  test("dead-letters a job whose failures are too many, and goes on behind it", async () => {
    const world = await setup((n) => (n === 1 ? world.fail() : undefined), {
      contract: { worker: { backoffBaseMs: 1_000, backoffCapMs: 1_000 } },
    });
    await world.sendTo("a", 1, 2);
    await world.start();
    await world.clock.advance(60_000);
    expect(world.heard("job.ended").map(({ attempt }) => attempt)).toEqual([
      ...Array.from({ length: 15 }, (_, index) => index + 1),
      1,
    ]);
    expect(world.heard("lease.dead-lettered")).toMatchObject([{ reason: "attempts-exhausted" }]);
    expect(world.runs.at(-1)).toBe("2 at 14000");
  });

  test("goes on behind a job that is dead-lettered at once, and behind what is no job", async () => {
    const world = await setup((n) => {
      if (n === 1) throw new PermanentJobError("never");
    });
    await world.sendTo("a", 1);
    await world.queue.send({ body: "{", groupId: "a", deduplicationId: "poison" });
    await world.sendTo("a", 2);
    await world.start();
    await world.clock.advance(1_000);
    expect(world.runs).toEqual(["1 at 0", "2 at 0"]);
    expect(world.heard("lease.dead-lettered").map(({ reason }) => reason)).toEqual([
      "permanent",
      "malformed",
    ]);
  });

  test("does not turn away what is no job before its turn", async () => {
    const world = await setup(() => world.clock.sleep(3_000));
    await world.sendTo("a", 1);
    await world.queue.send({ body: "{", groupId: "a", deduplicationId: "poison" });
    await world.start();
    await world.clock.advance(2_900);
    expect(world.heard("job.malformed")).toEqual([]);
    await world.clock.advance(200);
    expect(world.heard("job.malformed")).toHaveLength(1);
  });

  test("tries a job again where it is that asks for a short time", async () => {
    const attempts: number[] = [];
    const world = await setup((_, attempt) => {
      attempts.push(attempt);
      if (attempts.length === 1) throw new RetryLaterError(50_000);
    });
    await world.sendTo("a", 1);
    await world.start();
    await world.clock.advance(60_000);
    expect(world.runs).toEqual(["1 at 0", "1 at 50000"]);
    expect(attempts).toEqual([1, 2]);
  });

  test("gives back a job that asks for a longer time, with what is behind it", async () => {
    let isLater = true;
    const world = await setup((n) => {
      if (n === 1 && isLater) throw new RetryLaterError(51_000);
    });
    await world.sendTo("a", 1, 2, 3);
    await world.start();
    await world.clock.advance(100);
    isLater = false;
    expect(world.visibilities()).toEqual([[20, [0, 0, 51_000]]]);
    await world.clock.advance(60_000);
    expect(world.runs.map((run) => run.split(" ")[0])).toEqual(["1", "1", "2", "3"]);
    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0, deadLettered: 0 });
  });

  test("gives back what is behind a job whose lease is lost", async () => {
    const world = await setup((n) => (n === 1 ? world.clock.sleep(30_000) : undefined));
    await world.sendTo("a", 1, 2);
    await world.start();
    world.queue.fault = ({ kind, entries }) =>
      kind === "changeVisibility" && entries > 1 ? { kind: "throttled" } : undefined;
    await world.clock.advance(9_500);
    world.queue.fault = () => undefined;
    await world.clock.advance(500);
    expect(world.heard("lease.lost").map(({ lease }) => lease.receiveCount)).toEqual([1, 1]);
    await world.clock.advance(60_000);
    expect(world.runs).toEqual(["1 at 0", "1 at 30000", "2 at 60000"]);
  });

  test("asks for one message at a time where few receives dead-letter (JaidenAshmore/java-dynamic-sqs-listener 369)", async () => {
    const world = await setup(() => world.clock.sleep(1_000), { maxReceiveCount: 99 });
    await world.sendTo("a", 1, 2);
    for (const n of [11, 12, 13]) await world.sendTo(`g${n}`, n);
    await world.start();
    await world.clock.advance(3_000);
    const asked = world.queue.calls.filter(({ kind }) => kind === "receive");
    expect(new Set(asked.map(({ entries }) => entries))).toEqual(new Set([1]));
    expect(world.runs).toEqual(["1 at 0", "11 at 0", "12 at 0", "13 at 0", "2 at 1000"]);
    expect(world.heard("lease.acked")).toHaveLength(5);
  });

  test("does not use up what waits behind a job that asks for time again and again", async () => {
    const world = await setup(
      (n) => {
        if (n === 1) throw new RetryLaterError(60_000);
      },
      { maxReceiveCount: 100 },
    );
    await world.sendTo("a", 1, 2, 3);
    await world.start();
    await world.clock.advance(7_000_000);
    const [dead] = await world.queue.takeDeadLetters();
    expect(dead?.message.deduplicationId).toBe("1");
    expect(world.runs).toHaveLength(102);
    expect(world.runs.slice(-2).map((run) => run.split(" ")[0])).toEqual(["2", "3"]);
    const counts = world.heard("lease.acked").map(({ lease }) => lease.receiveCount);
    expect(counts).toEqual([52, 52]);
  });
});

describe("the slots of a worker of a FIFO queue", () => {
  test("are not for messages that wait for those before them", async () => {
    const world = await setup(() => world.clock.sleep(1_000), {
      contract: { worker: { concurrency: 2 } },
    });
    await world.sendTo("a", 1, 2, 3);
    await world.sendTo("b", 11);
    await world.start();
    await world.clock.advance(100);
    expect(world.runs).toEqual(["1 at 0", "11 at 50"]);
    expect(world.worker.snapshot().slots).toEqual({ total: 2, busy: 2 });
  });

  test("go to the next one of the group before anything else is claimed", async () => {
    const world = await setup((n) => world.clock.sleep(n === 21 ? 60_000 : 1_000), {
      contract: { worker: { concurrency: 2 } },
    });
    world.queue.fault = ({ kind }) =>
      kind === "delete" ? { kind: "slow-answer", delayMs: 500 } : undefined;
    await world.sendTo("a", 1, 2);
    await world.sendTo("c", 21);
    await world.start();
    await world.clock.advance(900);
    await world.sendTo("b", 11);
    await world.clock.advance(4_000);
    expect(world.runs).toEqual(["1 at 0", "21 at 50", "2 at 1500", "11 at 3050"]);
  });

  test("are for others while a job waits for its next try", async () => {
    const world = await setup((n) => (n < 10 ? world.fail() : world.clock.sleep(100)), {
      contract: { worker: { concurrency: 2, holdLimit: 2, backoffBaseMs: 80_000 } },
    });
    for (const n of [1, 2]) await world.sendTo(`failing-${n}`, n);
    await world.start();
    await world.clock.advance(1_000);
    expect(world.worker.snapshot().slots.busy).toBe(0);
    await world.sendTo("b", 11, 12, 13);
    await world.clock.advance(2_000);
    expect(world.heard("lease.acked")).toHaveLength(3);
  });

  test("are kept by jobs that wait for their next try when no more may be held", async () => {
    const world = await setup((n) => (n < 10 ? world.fail() : undefined), {
      contract: { worker: { concurrency: 4, holdLimit: 1, backoffBaseMs: 80_000 } },
    });
    for (const n of [1, 2, 3, 4, 5, 6]) await world.sendTo(`failing-${n}`, n);
    await world.start();
    await world.clock.advance(39_000);
    expect(world.worker.snapshot().slots.busy).toBe(4);
    expect(world.runs).toHaveLength(5);
    await world.clock.advance(60_000);
    expect(world.runs.filter((run) => run.startsWith("1 "))).toHaveLength(3);
  });

  test("are had again before the next try", async () => {
    const world = await setup(
      (n, attempt) => (n === 1 && attempt === 1 ? world.fail() : world.clock.sleep(10_000)),
      { contract: { worker: { concurrency: 1, backoffBaseMs: 4_000 } } },
    );
    await world.sendTo("a", 1);
    await world.start();
    await world.clock.advance(500);
    await world.sendTo("b", 11);
    await world.clock.advance(25_000);
    expect(world.runs).toEqual(["1 at 0", "11 at 500", "1 at 10500"]);
    expect(world.heard("lease.acked")).toHaveLength(2);
  });
});

describe("a drain of a FIFO queue", () => {
  test("gives back at once what waits behind a job, and the job after it", async () => {
    const world = await setup(() => world.clock.sleep(60_000));
    await world.sendTo("a", 1, 2, 3);
    await world.start();
    await world.clock.advance(1_000);
    world.worker.signal("SIGTERM");
    await world.clock.advance(2_500);
    expect(world.queue.counts()).toMatchObject({ visible: 2, inFlight: 1 });
    await world.clock.advance(20_000);
    const released = world.heard("lease.released").map(({ lease }) => lease.messageId);
    const [first] = world.heard("lease.claimed").map(({ lease }) => lease.messageId);
    expect(released).toHaveLength(3);
    expect(released.at(-1)).toBe(first);
    expect(world.runs).toEqual(["1 at 0"]);
  });

  test("ends the wait for the next try, and keeps what is left of it", async () => {
    const world = await setup((n) => (n === 1 ? world.fail() : undefined), {
      contract: { worker: { backoffBaseMs: 80_000 } },
    });
    await world.sendTo("a", 1, 2);
    await world.start();
    await world.clock.advance(10_500);
    const ended = world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(100);
    expect(world.visibilities().at(-1)).toEqual([10_520, [0, 30_000]]);
    await world.clock.advance(5_000);
    expect(await ended).toMatchObject({ exitCode: 0, unfinished: [{ disposal: "released" }] });
    expect(world.runs).toEqual(["1 at 0"]);
  });

  test("starts nothing whose turn comes within it", async () => {
    const world = await setup(() => world.clock.sleep(1_000));
    await world.sendTo("a", 1, 2);
    await world.start();
    await world.clock.advance(500);
    world.worker.signal("SIGTERM");
    await world.clock.advance(10_000);
    expect(world.runs).toEqual(["1 at 0"]);
    expect(world.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });
});
