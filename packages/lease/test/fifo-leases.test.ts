import type { Lease, LeaseQueue, ReceiveRequest } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import type { ModelFault } from "../../../test/support/model-lease-queue.ts";
import { setupLeases } from "./lease-setup.ts";

/** A FIFO queue; `arrive("a1", "b1")` sends messages to the groups by their first letter. */
async function setup() {
  const handles: string[] = [];
  const asked: ReceiveRequest[] = [];
  const between = (queue: LeaseQueue): LeaseQueue => ({
    name: queue.name,
    fifo: queue.fifo,
    hasDeadLetterQueue: queue.hasDeadLetterQueue,
    changeVisibility: (entries) => queue.changeVisibility(entries),
    delete: (receiptHandles) => queue.delete(receiptHandles),
    deadLetter: (copy) => queue.deadLetter(copy),
    receive: async (request) => {
      asked.push(request);
      const receipts = await queue.receive(request);
      handles.push(...receipts.map(({ receiptHandle }) => receiptHandle));
      return receipts;
    },
  });
  const base = await setupLeases({ queue: { name: "jobs.fifo" }, between });
  const { queue, source } = base;
  const arrive = async (...names: readonly string[]) => {
    for (const body of names) {
      await queue.send({ body, groupId: body.slice(0, 1), deduplicationId: body });
    }
  };
  const take = (maxMessages = 10) => source.claim({ maxMessages, waitMs: 0 });
  return { ...base, arrive, take, handles, asked };
}

type Three = readonly [Lease, Lease, Lease];

const bodies = (leases: readonly Lease[]) => leases.map(({ message }) => message.body);
const mayStart = (lease: Lease) => lease.turn === undefined;

describe("leases of a FIFO queue", () => {
  test("may start one at a time in each group, groups side by side (bbc/sqs-consumer 124)", async () => {
    const { arrive, take } = await setup();
    await arrive("a1", "a2", "b1");
    const leases = await take();
    expect(bodies(leases)).toEqual(["a1", "a2", "b1"]);
    expect(leases.map(mayStart)).toEqual([true, false, true]);
    const [, second] = leases as Three;
    expect(() => second.start()).toThrow('waiting for its turn cannot take "start"');
    await expect(second.ack()).rejects.toThrow("waiting for its turn");
  });

  test("start when the delete of the one before is confirmed, not when it is asked for", async () => {
    const { arrive, take, clock, queue } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    queue.fault = ({ kind }) =>
      kind === "delete" ? { kind: "slow-answer", delayMs: 1_500 } : undefined;
    first.start();
    void first.ack();
    await clock.advance(1_400);
    expect(mayStart(second)).toBe(false);
    await clock.advance(200);
    expect(mayStart(second)).toBe(true);
    second.start();
    expect(second.state).toBe("running");
  });

  test("start when the one before is dead-lettered, with its group and an id of its receive", async () => {
    const { arrive, take, clock, queue } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    first.start();
    void first.deadLetter({ code: "permanent", detail: "?" });
    await clock.advance(10);
    expect(mayStart(second)).toBe(true);
    const [copy] = await queue.takeDeadLetters();
    expect(copy?.message).toMatchObject({
      body: "a1",
      groupId: "a",
      deduplicationId: `${first.ref.messageId}-1`,
    });
  });

  test("do not wait for company with an ack, and share the call of one moment", async () => {
    const { arrive, take, clock, sentAt, queue } = await setup();
    await arrive("a1", "b1");
    const leases = await take();
    for (const lease of leases) {
      lease.start();
      void lease.ack();
    }
    await clock.advance(0);
    expect(sentAt("delete")).toEqual([0]);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("are extended while they wait", async () => {
    const { arrive, take, clock } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    first.start();
    await clock.advance(300_000);
    expect(second.remainingMs()).toBeGreaterThan(0);
    expect(second.holdRemainingMs()).toBe(42_870_000);
  });

  test("go back with the one before them, in one call and before it", async () => {
    const { arrive, take, clock, queue, heard } = await setup();
    await arrive("a1", "a2", "a3", "b1");
    const leases = (await take()) as Three;
    const [first, second, third] = leases;
    first.start();
    void first.retry(600_000);
    expect(await second.turn).toBe("gone");
    await clock.advance(100);
    expect(queue.calls.filter(({ kind }) => kind === "changeVisibility")).toMatchObject([
      { visibilityTimeoutsMs: [0, 0, 600_000] },
    ]);
    expect(heard("lease.released").map(({ lease }) => lease.messageId)).toEqual([
      third.ref.messageId,
      second.ref.messageId,
    ]);
    expect(leases.map(({ state }) => state)).toEqual(["done", "released", "released", "received"]);
  });

  test("tell whoever releases them as well how that went", async () => {
    const { arrive, take, clock } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    void first.release(0, "ended");
    const early = second.release(0, "unstarted");
    await clock.advance(100);
    expect(await early).toEqual({ kind: "confirmed" });
    expect(await second.release(0, "unstarted")).toEqual({ kind: "confirmed" });
  });

  test("go back before the one before them also when SQS refuses them first", async () => {
    const { arrive, take, clock, queue, failNext, heard } = await setup();
    await arrive("a1", "a2");
    const [first] = (await take()) as Three;
    first.start();
    failNext("changeVisibility", { kind: "throttled" }, { kind: "throttled" });
    void first.release(0, "ended");
    await clock.advance(2_000);
    expect(heard("lease.released").map(({ class: why }) => why)).toEqual(["unstarted", "ended"]);
    expect(queue.counts()).toMatchObject({ visible: 2 });
  });

  test("go back when the one before them is lost", async () => {
    const { arrive, take, clock, queue, heard, handles } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    first.start();
    // Somebody deletes the message behind its back: the next extension is refused.
    await queue.delete(handles.slice(0, 1));
    await clock.advance(25_000);
    expect(heard("lease.lost")).toMatchObject([{ cause: "refused" }]);
    expect(mayStart(second)).toBe(false);
    expect(second.state).toBe("released");
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("leave those before them alone", async () => {
    const { arrive, take, clock } = await setup();
    await arrive("a1", "a2", "a3");
    const [first, second, third] = (await take()) as Three;
    first.start();
    void second.release(0, "hold-limit");
    await clock.advance(100);
    expect([first, second, third].map(({ state }) => state)).toEqual([
      "running",
      "released",
      "released",
    ]);
  });

  test("begin anew when the group is claimed again", async () => {
    const { arrive, take, clock } = await setup();
    await arrive("a1", "a2");
    const [first] = (await take()) as Three;
    first.start();
    void first.release(0, "ended");
    await clock.advance(100);
    const again = await take();
    expect(bodies(again)).toEqual(["a1", "a2"]);
    expect(again.map(mayStart)).toEqual([true, false]);
  });

  test("wait behind a message whose former run is not over", async () => {
    const { arrive, take, clock, queue } = await setup();
    await arrive("a1", "a2");
    const [first] = (await take(1)) as Three;
    first.start();
    queue.fault = ({ kind }) => (kind === "changeVisibility" ? { kind: "throttled" } : undefined);
    await clock.advance(61_000);
    queue.fault = () => undefined;
    expect(first.state).toBe("lost");

    const [second] = (await take()) as Three;
    expect(bodies([second])).toEqual(["a2"]);
    expect(mayStart(second)).toBe(false);
    void first.release(0, "ended");
    const [again] = (await take()) as Three;
    expect(bodies([again])).toEqual(["a1"]);
    expect(mayStart(again)).toBe(true);
    expect(mayStart(second)).toBe(false);
  });

  test("go back when the former run before them is never over", async () => {
    const { arrive, take, clock, queue } = await setup();
    await arrive("a1", "a2");
    const [first] = (await take(1)) as Three;
    first.start();
    queue.fault = ({ kind }) => (kind === "changeVisibility" ? { kind: "throttled" } : undefined);
    await clock.advance(61_000);
    queue.fault = () => undefined;
    const [second] = (await take()) as Three;
    await clock.advance(61_000);
    expect(second.state).toBe("released");
  });

  test("lose nothing and make no call when a delete comes too late", async () => {
    const { arrive, take, clock, queue, heard, handles } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    first.start();
    const [receiptHandle = ""] = handles;
    await queue.changeVisibility([{ receiptHandle, visibilityTimeoutMs: 0 }]);
    const ended = first.ack();
    await clock.advance(100);
    expect(await ended).toEqual({ kind: "lost" });
    expect(heard("lease.lost")).toMatchObject([{ cause: "refused" }]);
    const calls = queue.calls.length;
    await clock.advance(30_000);
    expect(second.state).toBe("released");
    expect(queue.calls.slice(calls)).toEqual([]);
  });

  test("do not start when a delete that was perhaps done comes too late the second time", async () => {
    const { arrive, take, clock, queue } = await setup();
    await arrive("a1", "a2");
    const [first, second] = (await take()) as Three;
    const deletes: ModelFault[] = [
      { kind: "lost-request" },
      { kind: "slow-request", delayMs: 1_900 },
    ];
    queue.fault = ({ kind }) => (kind === "delete" ? deletes.shift() : { kind: "throttled" });
    first.start();
    await clock.advance(56_500);
    const ended = first.ack();
    await clock.advance(10_000);
    expect(queue.calls.filter(({ kind }) => kind === "delete")).toHaveLength(2);
    expect(await ended).toEqual({ kind: "lost" });
    expect(mayStart(second)).toBe(false);
    expect(queue.counts()).toMatchObject({ visible: 2 });
  });
});

describe("a receive of a FIFO queue whose answer was lost", () => {
  const lose = async ({ clock, failNext, take }: Awaited<ReturnType<typeof setup>>, most = 10) => {
    failNext("receive", { kind: "lost-reply" });
    const failed = expect(take(most)).rejects.toThrow("TimeoutError");
    await clock.advance(2_000);
    await failed;
  };

  test("is asked again under its id, and brings what it took at no further cost", async () => {
    const one = await setup();
    await one.arrive("a1", "a2");
    await lose(one);
    const leases = await one.take();
    expect(bodies(leases)).toEqual(["a1", "a2"]);
    expect(leases.map(({ ref }) => ref.receiveCount)).toEqual([1, 1]);
    const [lost, again] = one.asked;
    expect(again?.attemptId).toBe(lost?.attemptId);
    await one.take();
    expect(one.asked[2]?.attemptId).not.toBe(lost?.attemptId);
  });

  test("counts the twelve hours of its messages from when it was sent first", async () => {
    const one = await setup();
    await one.arrive("a1");
    await lose(one);
    const [lease] = (await one.take()) as Three;
    expect(lease.claimedAt.monotonicMs).toBe(0);
    expect(lease.remainingMs()).toBe(59_000);
  });

  test("is not asked again for fewer messages than it may bring, nor when they are free again", async () => {
    const one = await setup();
    await one.arrive("a1", "a2");
    await lose(one);
    expect(await one.take(9)).toEqual([]);
    await one.clock.advance(58_000);
    await one.take();
    const ids = one.asked.map(({ attemptId }) => attemptId);
    expect(new Set(ids).size).toBe(3);
  });

  test("has no id on a standard queue", async () => {
    const { queue, source } = await setupLeases();
    const asked: ReceiveRequest[] = [];
    const receive = queue.receive.bind(queue);
    queue.receive = (request) => {
      asked.push(request);
      return receive(request);
    };
    await source.claim({ maxMessages: 1, waitMs: 0 });
    expect(asked[0]).not.toHaveProperty("attemptId");
  });
});
