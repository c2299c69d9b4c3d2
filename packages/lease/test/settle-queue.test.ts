import type { CallAnswer } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { setupLeases } from "./lease-setup.ts";

/** Deletes are answered by the test, in order. */
function setupDeletes(...answers: readonly CallAnswer[]) {
  const left = [...answers];
  return setupLeases({
    between: (queue) => ({
      name: queue.name,
      fifo: queue.fifo,
      hasDeadLetterQueue: queue.hasDeadLetterQueue,
      receive: (request) => queue.receive(request),
      changeVisibility: (entries) => queue.changeVisibility(entries),
      delete: async (handles) => handles.map(() => left.shift() as CallAnswer),
      deadLetter: (copy) => queue.deadLetter(copy),
    }),
  });
}

describe("an ack", () => {
  test("waits a tenth of a second for others to share its call", async () => {
    const { clock, claim, queue } = await setupLeases();
    const leases = await claim(12);
    const acks = leases.slice(0, 11).map((lease) => lease.ack());
    await clock.advance(60);
    acks.push(leases[11]?.ack() as (typeof acks)[number]);
    await clock.advance(40);

    expect(await Promise.all(acks)).toEqual(Array(12).fill({ kind: "confirmed" }));
    const deletes = queue.calls.filter(({ kind }) => kind === "delete");
    expect(deletes.map(({ atMs, entries }) => [atMs, entries])).toEqual([
      [0, 10],
      [100, 2],
    ]);
  });

  test("is tried again while the lease lives, which is extended meanwhile", async () => {
    const { clock, claimOne, queue, sentAt, heard, source } = await setupLeases();
    const lease = await claimOne();
    queue.fault = (call) =>
      call.kind === "delete" && call.atMs < 70_000 ? { kind: "server-error" } : undefined;
    const acked = lease.ack();
    await clock.advance(69_000);
    expect(source.unconfirmedAcks).toBe(1);
    await clock.advance(3_000);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([20_000, 40_000, 60_000]);
    expect(heard("lease.settle-failed")[0]).toMatchObject({
      during: "ack",
      code: "InternalFailure",
    });
    expect(heard("lease.acked")).toMatchObject([{ lease: lease.ref }]);
  });

  test("whose reply was lost is confirmed when the message is not found any more", async () => {
    const { clock, claimOne, heard } = await setupDeletes(
      { kind: "unknown", code: "TimeoutError" },
      { kind: "refused", code: "InvalidParameterValue" },
    );
    const acked = (await claimOne()).ack();
    await clock.advance(1_000);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(heard("lease.settle-failed")).toHaveLength(1);
  });

  test("that is refused at its first try is no ack: the message is with somebody else (Brighter 4031; celery/kombu 1198)", async () => {
    const { clock, claimOne, heard } = await setupDeletes({
      kind: "refused",
      code: "InvalidParameterValue",
    });
    const acked = (await claimOne()).ack();
    await clock.advance(1_000);

    expect(await acked).toEqual({ kind: "lost" });
    expect(heard("lease.lost")).toMatchObject([{ cause: "refused", during: "settling (ack)" }]);
  });

  test("outlives answers that are no answers", async () => {
    const { clock, claimOne, source } = await setupLeases({
      between: (queue) => {
        const answers: (() => Promise<readonly CallAnswer[]>)[] = [
          () => {
            throw new Error("a bug in an adapter");
          },
          () => Promise.reject(new Error("another")),
          () => Promise.resolve([]),
        ];
        return {
          name: queue.name,
          fifo: queue.fifo,
          hasDeadLetterQueue: queue.hasDeadLetterQueue,
          receive: (request) => queue.receive(request),
          changeVisibility: (entries) => queue.changeVisibility(entries),
          delete: (handles) => answers.shift()?.() ?? queue.delete(handles),
          deadLetter: (copy) => queue.deadLetter(copy),
        };
      },
    });
    const acked = (await claimOne()).ack();
    await clock.advance(1_000);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(source.held()).toEqual([]);
  });

  test("is not undone by an extension that finds nothing any more", async () => {
    const { clock, claimOne, failNext, heard } = await setupLeases();
    const lease = await claimOne();
    await clock.advance(19_000);
    failNext("delete", { kind: "slow-answer", delayMs: 1_900 });
    const acked = lease.ack();
    await clock.advance(2_000);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(heard("lease.lost")).toEqual([]);
  });

  test("counts although its answer comes after the lease would have run out", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases();
    const lease = await claimOne();
    queue.fault = (call) => {
      if (call.kind === "changeVisibility") return { kind: "lost-request" };
      return { kind: "slow-answer", delayMs: 1_500 };
    };
    await clock.advance(58_000);
    const acked = lease.ack();
    await clock.advance(1_600);

    expect(await acked).toEqual({ kind: "confirmed" });
    expect(heard("lease.lost")).toEqual([]);
  });

  test("makes no call once the lease is lost", async () => {
    const { clock, claimOne, queue } = await setupLeases();
    const lease = await claimOne();
    queue.fault = () => ({ kind: "lost-request" });
    await clock.advance(58_950);
    const acked = lease.ack();
    await clock.advance(100_000);

    expect(await acked).toEqual({ kind: "lost" });
    expect(queue.calls.filter(({ kind }) => kind === "delete")).toEqual([]);
  });
});

describe("a queue that never answers", () => {
  const never = new Promise<never>(() => undefined);

  test("holds nobody longer than the hard timeout (bbc/sqs-consumer 275, 199; vercel/sqs-consumer 3, 4)", async () => {
    const { clock, claim, source } = await setupLeases({
      between: (queue) => ({
        name: queue.name,
        fifo: queue.fifo,
        hasDeadLetterQueue: queue.hasDeadLetterQueue,
        receive: (request) => queue.receive(request),
        changeVisibility: () => never,
        delete: () => never,
        deadLetter: () => never,
      }),
    });
    const [acked, released] = await claim(2);
    const endings = [acked?.ack(), released?.release(0, "ended")];
    await clock.advance(2_020);
    expect(await endings[1]).toMatchObject({ kind: "lapsing" });
    await clock.advance(60_000);

    expect(await endings[0]).toEqual({ kind: "lost" });
    expect(source.held()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a release", () => {
  test("gives the message back at once, together with others of the same moment", async () => {
    const { clock, claim, queue, heard } = await setupLeases();
    const leases = await claim(3);
    const released = leases.map((lease) => lease.release(0, "ended"));
    await clock.advance(20);

    expect(await Promise.all(released)).toEqual(Array(3).fill({ kind: "confirmed" }));
    expect(queue.calls.at(-1)).toMatchObject({
      kind: "changeVisibility",
      atMs: 20,
      visibilityTimeoutsMs: [0, 0, 0],
    });
    expect(queue.counts()).toMatchObject({ visible: 3, inFlight: 0 });
    expect(heard("lease.released")[0]).toEqual({
      kind: "lease.released",
      lease: leases[0]?.ref,
      delayMs: 0,
      class: "ended",
    });
  });

  test("of 25 leases goes in three calls side by side", async () => {
    const { clock, claim, queue } = await setupLeases();
    const leases = await claim(25);
    queue.fault = () => ({ kind: "slow-answer", delayMs: 1_000 });
    const released = leases.map((lease) => lease.release(0, "ended"));
    await clock.advance(1_020);

    await Promise.all(released);
    const calls = queue.calls.filter(({ kind }) => kind === "changeVisibility");
    expect(calls.map(({ atMs, entries }) => [atMs, entries])).toEqual([
      [0, 10],
      [0, 10],
      [20, 5],
    ]);
  });

  test("waits for an extension in flight, which would undo it (bbc/sqs-consumer 260, PR 848; novuhq/novu PR 12437)", async () => {
    const { clock, claimOne, failNext, sentAt, queue } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "slow-request", delayMs: 1_500 });
    await clock.advance(20_100);
    const released = lease.release(0, "ended");
    await clock.advance(1_420);

    expect(await released).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([20_000, 21_520]);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });

  test("whose answer is unknown is never repeated: the lease lapses", async () => {
    const { clock, claimOne, failNext, queue, heard } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "lost-request" });
    const released = lease.release(0, "ended");
    await clock.advance(2_020);

    expect(await released).toEqual({ kind: "lapsing", visibleInMs: 57_980 });
    expect(lease.state).toBe("lapsing");
    expect(heard("lease.lapsing")).toEqual([
      {
        kind: "lease.lapsing",
        lease: lease.ref,
        during: "release",
        code: "TimeoutError",
        visibleInMs: 57_980,
      },
    ]);
    await clock.advance(57_980);
    expect(queue.calls.map(({ kind }) => kind)).toEqual(["receive", "changeVisibility"]);
    expect(queue.counts()).toMatchObject({ visible: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  test("that provably did nothing is tried again while it fits", async () => {
    const { clock, claimOne, failNext, sentAt } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "throttled" }, { kind: "throttled" });
    const released = lease.release(0, "ended");
    await clock.advance(20);
    expect(lease.remainingMs()).toBe(58_980);
    await clock.advance(250);

    expect(await released).toEqual({ kind: "confirmed" });
    expect(sentAt("changeVisibility")).toEqual([20, 90, 210]);
  });

  test("does not leave when its answer could come too late: the lease lapses without a call", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases();
    const lease = await claimOne();
    queue.fault = () => ({ kind: "throttled" });
    await clock.advance(57_500);
    const before = queue.calls.length;
    const released = lease.release(0, "ended");
    await clock.advance(20);

    expect(await released).toEqual({ kind: "lapsing", visibleInMs: 2_480 });
    expect(queue.calls).toHaveLength(before);
    expect(heard("lease.lapsing")).toMatchObject([{ code: "NoTimeLeft" }]);
  });

  test("lowers the local deadline in the moment it is sent", async () => {
    const { clock, claimOne, failNext } = await setupLeases();
    const lease = await claimOne();
    failNext("changeVisibility", { kind: "slow-answer", delayMs: 1_000 });
    void lease.release(0, "ended");
    await clock.advance(19);
    expect(lease.remainingMs()).toBe(58_981);
    await clock.advance(1);

    expect(lease.remainingMs()).toBe(0);
    expect(lease.state).toBe("releasing");
  });
});

describe("a retry", () => {
  test("comes back after its delay, rounded up to whole seconds", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases();
    const lease = await claimOne();
    lease.start();
    const retried = lease.retry(4_200);
    await clock.advance(20);

    expect(await retried).toEqual({ kind: "confirmed" });
    expect(lease.state).toBe("done");
    expect(lease.expiresInMs()).toBe(5_000);
    expect(heard("lease.retried")).toEqual([
      { kind: "lease.retried", lease: lease.ref, delayMs: 5_000 },
    ]);
    await clock.advance(4_999);
    expect(queue.counts()).toMatchObject({ visible: 0 });
    await clock.advance(1);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });

  test("is shortened to what SQS's twelve hours leave", async () => {
    const { clock, claimOne, queue } = await setupLeases();
    const lease = await claimOne();
    await clock.advance(10_000);
    void lease.retry(50_000_000);
    await clock.advance(20);

    expect(queue.calls.at(-1)?.visibilityTimeoutsMs).toEqual([43_188_000]);
    expect(lease.state).toBe("done");
  });
});

describe("of two endings", () => {
  test("the first wins and the other does nothing", async () => {
    const { clock, claim, queue } = await setupLeases();
    const [acked, released] = await claim(2);
    const endings = [
      acked?.ack(),
      acked?.release(0, "ended"),
      released?.release(0, "ended"),
      released?.ack(),
      released?.retry(1_000),
    ];
    await clock.advance(100);

    expect(await Promise.all(endings)).toEqual([
      { kind: "confirmed" },
      { kind: "superseded" },
      { kind: "confirmed" },
      { kind: "superseded" },
      { kind: "superseded" },
    ]);
    expect(await acked?.ack()).toEqual({ kind: "superseded" });
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });
});

describe("a dead-letter", () => {
  const reason = { code: "malformed", detail: "no JSON" };

  test("copies the message with its reason, then deletes it", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases();
    const lease = await claimOne();
    const ended = lease.deadLetter(reason);
    await clock.advance(100);

    expect(await ended).toEqual({ kind: "confirmed" });
    expect(queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0, deadLettered: 1 });
    const [copy] = await queue.takeDeadLetters();
    expect(copy?.message.body).toBe("job 0");
    expect(copy?.message.attributes["dead_letter_reason"]?.value).toBe("malformed");
    expect(heard("lease.dead-lettered")).toEqual([
      { kind: "lease.dead-lettered", lease: lease.ref, reason: "malformed" },
    ]);
  });

  test("is never deleted before its copy is safe", async () => {
    const { clock, claimOne, failNext, queue, sentAt } = await setupLeases();
    const lease = await claimOne();
    failNext("deadLetter", { kind: "throttled" }, { kind: "lost-request" });
    const ended = lease.deadLetter(reason);
    await clock.advance(2_250);

    expect(await ended).toEqual({ kind: "confirmed" });
    expect(sentAt("deadLetter")).toEqual([0, 50, 2_150]);
    expect(sentAt("delete")).toEqual([2_250]);
    expect(queue.counts()).toMatchObject({ deadLettered: 1, inFlight: 0 });
  });

  test("without a queue to go to leaves the message to come back by itself", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases({
      queue: { hasDeadLetterQueue: false },
    });
    const lease = await claimOne();
    expect(lease.canDeadLetter).toBe(false);
    const ended = lease.deadLetter(reason);

    expect(await ended).toEqual({ kind: "lapsing", visibleInMs: 60_000 });
    expect(heard("lease.settle-failed")).toMatchObject([{ code: "NoDeadLetterQueue" }]);
    await clock.advance(60_000);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });

  test("that the queue refuses is retried as late as its run said", async () => {
    const { clock, claimOne, queue, heard, sentAt } = await setupLeases();
    const QueueUrl = queue.queueUrl.replace(/jobs$/, "jobs-dlq");
    await queue.account.perform("DeleteQueue", { QueueUrl });
    const lease = await claimOne();
    const ended = lease.deadLetter(reason, 600_000);
    await clock.advance(100);

    expect(await ended).toEqual({ kind: "confirmed" });
    expect(heard("lease.settle-failed")).toMatchObject([
      { during: "dead-letter", code: "QueueDoesNotExist" },
    ]);
    expect(heard("lease.retried")).toMatchObject([{ delayMs: 600_000 }]);
    expect(heard("lease.dead-lettered")).toEqual([]);
    expect(sentAt("delete")).toEqual([]);
    await clock.advance(599_000);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    await clock.advance(1_000);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });

  test("that the queue refuses leaves the message to come back by itself", async () => {
    const { clock, claimOne, queue, heard } = await setupLeases();
    const QueueUrl = queue.queueUrl.replace(/jobs$/, "jobs-dlq");
    await queue.account.perform("DeleteQueue", { QueueUrl });
    const lease = await claimOne();
    const ended = lease.deadLetter(reason);

    expect(await ended).toEqual({ kind: "lapsing", visibleInMs: 60_000 });
    expect(heard("lease.lapsing")).toMatchObject([{ during: "dead-letter" }]);
    await clock.advance(60_000);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });
});
