import {
  type JobContext,
  type JobSender,
  PermanentJobError,
  parseJobId,
  RetryLaterError,
} from "@leasehold/job";
import { describe, expect, test } from "vitest";
import {
  openWorld,
  type TestHandler,
  type WorldOptions,
} from "../../../test/support/worker-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

async function setup(options: WorldOptions = {}) {
  const world = await openWorld(options);
  void world.worker.start();
  await world.clock.settle();
  return world;
}

/** Works until its signal aborts or the time is over. */
function lasting(durationMs: number, clock: () => Awaited<ReturnType<typeof openWorld>>["clock"]) {
  return async (_: unknown, context: JobContext) => {
    await clock().sleep(durationMs, context.signal);
    context.signal.throwIfAborted();
  };
}

describe("a worker", () => {
  test("claims, works and acks what is in its queue, and leaves no timer behind", async () => {
    const worked: number[] = [];
    const world = await setup({ handler: (job) => void worked.push(job.payload.n) });
    await world.send(3);
    await world.clock.advance(1_000);

    expect(worked.sort()).toEqual([1, 2, 3]);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
    expect(world.worker.snapshot().totals).toMatchObject({ claimed: 3, acked: 3, lost: 0 });

    const ended = world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(3_000);
    expect(await ended).toMatchObject({ exitCode: 0, unfinished: [] });
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("acks whatever a handler returns: nothing, false, null or an error (bbc/sqs-consumer 443; nestjs-sqs 103)", async () => {
    const returned = [undefined, false, null, "", new Error("returned, not thrown")];
    const world = await setup({ handler: ({ payload }) => returned[payload.n - 1] });
    await world.send(5);
    await world.clock.advance(1_000);

    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
    expect(world.worker.snapshot().totals).toMatchObject({ claimed: 5, acked: 5, retried: 0 });
  });

  test("goes on claiming beside a slow job (bbc/sqs-consumer 86, 96, 229)", async () => {
    const world = await setup({
      contract: { worker: { concurrency: 2 } },
      handler: async (job, context) => {
        if (job.payload.n === 1) await world.clock.sleep(60_000, context.signal);
      },
    });
    await world.send(9);
    await world.clock.advance(5_000);

    expect(world.heard("lease.acked")).toHaveLength(8);
    expect(world.worker.snapshot().slots).toEqual({ total: 2, busy: 1 });
    await world.clock.advance(60_000);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });

  test("claims nothing that cannot start (Bogdanp/dramatiq_sqs 52; spring-attic/spring-cloud-aws 516)", async () => {
    const world = await setup({
      contract: { worker: { concurrency: 3 } },
      handler: (_, context) => world.clock.sleep(30_000, context.signal),
    });
    await world.send(10);
    await world.clock.advance(20_000);

    expect(world.heard("lease.claimed")).toHaveLength(3);
    expect(world.queue.counts()).toMatchObject({ visible: 7, inFlight: 3 });
  });

  test("extends a long job until it is acked", async () => {
    const world = await setup({ handler: (_, { signal }) => world.clock.sleep(60_000, signal) });
    await world.send();
    await world.clock.advance(61_000);

    expect(world.heard("lease.extended").length).toBeGreaterThanOrEqual(15);
    expect(world.heard("lease.lost")).toEqual([]);
    expect(world.heard("job.started")).toHaveLength(1);
    expect(world.heard("lease.acked")).toHaveLength(1);
  });

  test("retries a failed job with growing delay, then dead-letters it with its reason", async () => {
    const world = await setup({
      contract: { worker: { maxAttempts: 3, interruptionBudget: 0 } },
      handler: () => {
        throw new Error("no printer");
      },
    });
    await world.send();
    await world.clock.advance(60_000);

    const ends = world.heard("job.ended");
    expect(ends.map(({ attempt, outcome, delayMs }) => [attempt, outcome, delayMs])).toEqual([
      [1, "failed", 2_500],
      [2, "failed", 5_000],
      [3, "dead-lettered", undefined],
    ]);
    const [dead] = await world.queue.takeDeadLetters();
    expect(Object.values(dead?.message.attributes ?? {}).map(({ value }) => value)).toContain(
      "attempts-exhausted",
    );
    expect(world.queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("dead-letters a permanent error at once", async () => {
    const world = await setup({
      handler: () => Promise.reject(new PermanentJobError("no such customer")),
    });
    await world.send();
    await world.clock.advance(1_000);

    expect(world.heard("job.started")).toHaveLength(1);
    expect(world.queue.counts()).toMatchObject({ inFlight: 0, deadLettered: 1 });
  });

  test("runs a job again when its handler said it should", async () => {
    let runs = 0;
    const world = await setup({
      handler: () => {
        runs += 1;
        if (runs === 1) throw new RetryLaterError(7_000);
      },
    });
    await world.send();
    await world.clock.advance(6_900);
    expect(runs).toBe(1);
    await world.clock.advance(2_000);
    expect(runs).toBe(2);
    expect(world.heard("lease.acked")).toHaveLength(1);
  });

  test.each<[string, TestHandler]>([
    ["undefined", () => Promise.reject(undefined)],
    ["a text, at once", () => throwing("boom")],
    ["a frozen object", () => throwing(Object.freeze({ code: 5 }))],
    ["an object whose getters throw", () => throwing(hostile())],
    ["a promise that rejects later", () => new Promise((_, no) => setImmediate(no, null))],
  ])("survives a handler that throws %s", async (_, handler) => {
    const world = await setup({ handler });
    await world.send();
    await world.clock.advance(1_000);

    expect(world.heard("job.ended")).toMatchObject([{ outcome: "failed", delayMs: 2_500 }]);
    expect(world.worker.snapshot()).toMatchObject({ phase: "ready", slots: { busy: 0 } });
  });

  test("aborts the handler of a lost lease and settles nothing", async () => {
    let reason: unknown;
    const world = await setup({
      handler: async (_, { signal }) => {
        await world.clock.sleep(60_000, signal);
        reason = signal.reason;
        return "too late";
      },
    });
    await world.send();
    await world.clock.advance(500);
    world.queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "server-error" } : undefined;
    await world.clock.advance(9_000);
    const calls = world.queue.calls.filter(({ kind }) => kind !== "receive").length;
    expect(reason).toMatchObject({ abortCause: "lease-lost" });
    expect(world.heard("job.ended")).toMatchObject([{ outcome: "lease-lost" }]);
    await world.clock.advance(400);
    expect(world.queue.calls.filter(({ kind }) => kind === "delete")).toEqual([]);
    expect(world.queue.calls.filter(({ kind }) => kind !== "receive")).toHaveLength(calls);
  });

  test("counts a job that takes too long as failed", async () => {
    const world = await setup({ timeoutMs: 3_000, handler: (...given) => work(...given) });
    const work = lasting(60_000, () => world.clock);
    await world.send();
    await world.clock.advance(3_500);

    expect(world.heard("job.aborted")).toMatchObject([{ cause: "job-timeout" }]);
    expect(world.heard("job.ended")).toMatchObject([{ outcome: "failed", durationMs: 3_000 }]);
  });

  test("tells a job how long it has", async () => {
    const told: number[] = [];
    const world = await setup({
      timeoutMs: 20_000,
      handler: async (_, context) => {
        told.push(context.remainingMs());
        await new Promise((resolve) => context.draining.addEventListener("abort", resolve));
        told.push(context.remainingMs());
      },
    });
    await world.send();
    await world.clock.advance(5_000);
    void world.worker.drain({ kind: "request", by: "test" });
    await world.clock.settle();

    expect(told).toEqual([20_000, 8_000]);
  });

  test("sends child jobs under an identity that a second run repeats", async () => {
    const sent: Parameters<JobSender["sendJob"]>[0][] = [];
    const sender: JobSender = {
      sendJob: async (job) => {
        sent.push(job);
        return { jobId: job.jobId, messageId: "m" };
      },
    };
    let runs = 0;
    const world = await setup({
      sender,
      handler: async (_, context) => {
        runs += 1;
        await context.send("receipt", { type: "receipt.render", payload: 1 });
        if (runs === 1) throw new Error("after the child");
      },
    });
    await world.send();
    await world.clock.advance(10_000);

    expect(sent).toHaveLength(2);
    expect(sent[0]).toEqual(sent[1]);
    expect(sent[0]).toMatchObject({ type: "receipt.render", tenantId: "acme", delayMs: 0 });
    expect(parseJobId(sent[0]?.jobId)).toContain("job-1");
  });

  test("names tenant and job in the events of its lease", async () => {
    const world = await setup();
    await world.send();
    await world.clock.advance(1_000);

    const job = { tenantId: "acme", jobId: "job-1", jobType: "test.work" };
    expect(world.heard("lease.acked")).toMatchObject([{ job }]);
    expect(world.heard("job.started")).toMatchObject([{ job, attempt: 1 }]);
  });

  test("is not harmed by a listener that throws", async () => {
    const world = await setup();
    world.worker.onEvent(() => {
      throw new Error("bad listener");
    });
    await world.send();
    await world.clock.advance(1_000);
    expect(world.queue.counts()).toEqual(NOTHING_LEFT);
  });
});

function throwing(thrown: unknown): never {
  throw thrown;
}

function hostile(): unknown {
  const refuse = () => {
    throw new Error("do not look");
  };
  return new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse });
}
