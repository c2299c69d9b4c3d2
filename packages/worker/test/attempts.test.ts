import { type AttemptLedger, PermanentJobError, parseJobId, RetryLaterError } from "@leasehold/job";
import { memoryAttemptLedger } from "@leasehold/job-run";
import { describe, expect, test } from "vitest";
import {
  openWorld,
  type TestHandler,
  type World,
  type WorldOptions,
} from "../../../test/support/worker-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0 };

async function setup(options: WorldOptions = {}) {
  const world = await openWorld({ attemptLedger: memoryAttemptLedger(), ...options });
  void world.worker.start();
  await world.clock.settle();
  return world;
}

/** What the one dead letter says of itself. */
async function deadLetter(world: World) {
  const [copy, ...more] = await world.queue.takeDeadLetters();
  expect(more).toEqual([]);
  const { attributes = {} } = copy?.message ?? {};
  const source = JSON.parse(String(attributes["dead_letter_source"]?.value ?? "{}"));
  return {
    reason: attributes["dead_letter_reason"]?.value,
    detail: attributes["dead_letter_detail"]?.value,
    counts: source.counts,
    receiveCount: source.receive_count,
  };
}

describe("failures", () => {
  test("alone use attempts up, and only they make delays grow", async () => {
    const seen: number[] = [];
    const world = await setup({
      contract: { worker: { maxAttempts: 3 } },
      handler: (_, { attempt, receiveCount }) => {
        seen.push(attempt);
        // Every other time it only waits for something.
        if (receiveCount % 2 === 0) throw new RetryLaterError(1_000);
        throw new Error("no printer");
      },
    });
    await world.send();
    await world.clock.advance(60_000);

    expect(seen).toEqual([1, 2, 2, 3, 3]);
    expect(world.heard("job.ended").map(({ outcome, delayMs }) => [outcome, delayMs])).toEqual([
      ["failed", 2_500],
      ["retry-later", 1_000],
      ["failed", 5_000],
      ["retry-later", 2_000],
      ["dead-lettered", undefined],
    ]);
    expect(await deadLetter(world)).toEqual({
      reason: "attempts-exhausted",
      detail: "attempt 3 of 3 failed: no printer",
      counts: { failures: 3, interruptions: 0, crashes: 0, put_offs: 2 },
      receiveCount: 5,
    });
  });

  test("are forgotten once the job has succeeded", async () => {
    const ledger = memoryAttemptLedger();
    const world = await setup({
      attemptLedger: ledger,
      handler: (_, { receiveCount }) => {
        if (receiveCount < 3) throw new Error("no printer");
      },
    });
    await world.send();
    await world.clock.advance(60_000);

    expect(world.queue.counts()).toMatchObject({ ...NOTHING_LEFT, deadLettered: 0 });
    const job = { ...world.heard("job.started")[0]?.job, jobId: parseJobId("job-1") };
    const opening = ledger.open({ job: job as never, messageId: "m", receiveCount: 2 });
    expect(opening).toMatchObject({ history: { failures: 0 } });
  });

  test("a job that asks to come back at once is no hot loop", async () => {
    const world = await setup({
      handler: () => {
        throw new RetryLaterError(0);
      },
    });
    await world.send();
    await world.clock.advance(240_000);

    const delays = world.heard("lease.retried").map(({ delayMs }) => delayMs);
    expect(delays).toEqual([
      ...[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000],
    ]);
  });
});

describe("interruptions", () => {
  /** A job that outlasts every drain, in one worker after the other. */
  async function drainAgainAndAgain(times: number, contract: WorldOptions["contract"] = {}) {
    const attempts: number[] = [];
    const world = await openWorld({
      attemptLedger: memoryAttemptLedger(),
      contract,
      queue: { maxReceiveCount: 1_000 },
    });
    const outlasting: TestHandler = async (_, context) => {
      attempts.push(context.attempt);
      await world.clock.sleep(600_000, context.signal);
      context.signal.throwIfAborted();
    };
    await world.send();
    const events = [];
    for (let time = 0; time < times; time += 1) {
      const { worker, events: heard } = world.another(outlasting);
      void worker.start();
      await world.clock.advance(2_000);
      void worker.drain({ kind: "request", by: "deploy" });
      await world.clock.advance(14_000);
      events.push(...heard);
    }
    return { world, attempts, events };
  }

  test("by twenty deploys are no failures (cashapp/misk 3892; elizaOS/eliza 17258)", async () => {
    const contract = { worker: { maxAttempts: 2, interruptionBudget: 50 } };
    const { world, attempts } = await drainAgainAndAgain(20, contract);
    expect(attempts).toEqual(Array(20).fill(1));
    expect(world.queue.counts()).toMatchObject({ visible: 1, inFlight: 0, deadLettered: 0 });
  });

  test("have a budget of their own, and the next start after it is the last word", async () => {
    const contract = { worker: { interruptionBudget: 3 } };
    const { world, attempts, events } = await drainAgainAndAgain(6, contract);
    expect(attempts).toEqual([1, 1, 1, 1]);
    expect(events.filter(({ kind }) => kind === "job.given-up")).toMatchObject([
      { reason: "interruptions-exhausted", job: { jobId: "job-1" } },
    ]);
    expect(world.queue.counts()).toMatchObject({ ...NOTHING_LEFT, deadLettered: 1 });
    expect(await deadLetter(world)).toMatchObject({
      reason: "interruptions-exhausted",
      counts: { failures: 0, interruptions: 4 },
    });
  });
});

describe("a job that kills its worker", () => {
  /** A worker with a queue that never answers again once it is dead, as after SIGKILL. */
  function startMortal(world: World) {
    const life = { isDead: false, running: 0, besideKiller: [] as number[] };
    const silence = new Promise<never>(() => {});
    const queue = new Proxy(world.queue, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => (life.isDead ? silence : value.apply(target, args));
      },
    });
    const handler: TestHandler = async ({ payload }) => {
      if (payload.n === 1) {
        life.isDead = true;
        life.besideKiller.push(life.running);
        return silence;
      }
      life.running += 1;
      await world.clock.sleep(20_000);
      life.running -= 1;
      return life.isDead ? silence : undefined;
    };
    const { worker, events } = world.another(handler, queue);
    void worker.start();
    return { life, events };
  }

  test("is run alone, then dead-lettered, and those beside it are not", async () => {
    const world = await openWorld({
      attemptLedger: memoryAttemptLedger(),
      queue: { maxReceiveCount: 1_000 },
    });
    // The first in the queue and the last in the batch: all others run when it strikes.
    for (const n of [2, 3, 4, 1]) await world.send(1, n);
    const lives = [];
    for (let life = 0; life < 8; life += 1) {
      lives.push(startMortal(world));
      await world.clock.advance(120_000);
    }
    // The ledger does not see the first; the next three are its budget; the last time it is alone.
    expect(lives.flatMap(({ life }) => life.besideKiller)).toEqual([3, 3, 3, 3, 0]);
    const events = lives.flatMap((each) => each.events);
    expect(events.filter(({ kind }) => kind === "job.given-up")).toMatchObject([
      { reason: "killed-its-worker", job: { jobId: "job-1" } },
    ]);
    expect(await deadLetter(world)).toMatchObject({
      reason: "killed-its-worker",
      counts: { failures: 0, crashes: 4 },
    });
    expect(events.filter(({ kind }) => kind === "lease.acked")).toHaveLength(3);
    expect(world.queue.counts()).toMatchObject(NOTHING_LEFT);
  });
});

describe("a suspect", () => {
  /** Job 1 has crashed three workers; the others run for as many seconds as their number says. */
  async function setupSuspect(contract: WorldOptions["contract"] = {}) {
    const told: string[] = [];
    const log: string[] = [];
    const attemptLedger: AttemptLedger = {
      open: ({ job }) => ({
        kind: "open",
        history: {
          ...{ failures: 0, interruptions: 0, putOffs: 0 },
          crashes: job.jobId === "job-1" ? 3 : 0,
        },
        end: ({ kind }) => {
          if (job.jobId === "job-1") told.push(kind);
          return undefined;
        },
      }),
    };
    const world = await setup({
      attemptLedger,
      contract,
      handler: async ({ payload }) => {
        log.push(`${payload.n} starts`);
        await world.clock.sleep(payload.n * 1_000);
        log.push(`${payload.n} ends`);
      },
    });
    return { world, told, log };
  }

  test("waits until it can run alone, and everything else waits for it", async () => {
    const { world, told, log } = await setupSuspect({ worker: { concurrency: 3 } });
    for (const n of [4, 5]) await world.send(1, n);
    await world.clock.advance(1_000);
    for (const n of [1, 2, 3]) await world.send(1, n);
    await world.clock.advance(20_000);

    expect(log).toEqual([
      ...["4 starts", "5 starts", "4 ends", "5 ends"],
      ...["1 starts", "1 ends"],
      ...["2 starts", "3 starts", "2 ends", "3 ends"],
    ]);
    expect(told).toEqual(["uncounted", "succeeded"]);
    expect(world.queue.counts()).toMatchObject(NOTHING_LEFT);
  });

  test("runs at once when it is alone already, and nothing is claimed beside it", async () => {
    const { world, told, log } = await setupSuspect();
    const polls = () => world.queue.calls.filter(({ kind }) => kind === "receive").length;
    await world.send(1, 1);
    await world.clock.advance(500);
    const before = polls();
    await world.send(5, 2);
    await world.clock.advance(400);
    expect([log, polls()]).toEqual([["1 starts"], before]);
    expect(world.queue.counts()).toMatchObject({ visible: 5, inFlight: 1 });

    await world.clock.advance(30_000);
    expect([told, log.slice(0, 2)]).toEqual([["succeeded"], ["1 starts", "1 ends"]]);
    expect(log).toHaveLength(12);
    expect(world.queue.counts()).toMatchObject(NOTHING_LEFT);
  });

  test("lets others run while it waits for its next try on a FIFO queue", async () => {
    const log: string[] = [];
    let failures = 0;
    const history = { failures: 0, interruptions: 0, putOffs: 0 };
    const world = await setup({
      attemptLedger: {
        open: ({ job }) => ({
          kind: "open",
          history: { ...history, crashes: job.jobId === "job-1" ? 3 : 0 },
          end: () => undefined,
        }),
      },
      queue: { name: "jobs.fifo", maxReceiveCount: 1_000 },
      contract: { queues: [{ name: "jobs.fifo", maxReceiveCount: 1_000 }] },
      handler: async ({ payload: { n } }) => {
        log.push(`${n} at ${Math.floor(world.clock.monotonicMs() / 1_000)}`);
        await world.clock.sleep(2_000);
        failures += 1;
        if (n === 1 && failures === 1) throw new Error("no printer");
      },
    });
    await world.sendTo("a", 1);
    await world.clock.advance(1_000);
    await world.sendTo("b", 2);
    await world.clock.advance(20_000);

    // Job 1 runs alone, waits 2.5 s, and waits for job 2 before it runs alone again.
    expect(log).toEqual(["1 at 0", "2 at 2", "1 at 4"]);
    expect(world.queue.counts()).toMatchObject(NOTHING_LEFT);
  });

  test("that waits when the drain begins is given back, unstarted and not blamed", async () => {
    const { world, told, log } = await setupSuspect();
    await world.send(1, 60);
    await world.clock.advance(1_000);
    await world.send(1, 1);
    await world.clock.advance(1_000);
    const ended = world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(14_000);

    const { unfinished } = await ended;
    expect(unfinished.find(({ job }) => job?.jobId === "job-1")).toMatchObject({
      disposal: "released",
      started: false,
    });
    expect([log, told]).toEqual([["60 starts"], ["uncounted"]]);
  });

  test("that waits for a job which never ends goes back, and the others run on", async () => {
    const { world, told, log } = await setupSuspect({ worker: { jobTimeoutMs: 20_000 } });
    await world.send(1, 1_000);
    await world.clock.advance(1_000);
    await world.send(1, 1);
    await world.clock.advance(1_000);
    await world.send(1, 2);
    await world.clock.advance(18_000);
    expect(log).toEqual(["1000 starts"]);
    await world.clock.advance(10_000);

    expect(log).toEqual(["1000 starts", "2 starts", "2 ends"]);
    expect(told).toEqual(["uncounted"]);
    expect(world.heard("lease.released")).toMatchObject([
      { class: "unstarted", delayMs: 20_000, job: { jobId: "job-1" } },
    ]);
  });
});

describe("a ledger beside a queue that dead-letters soon", () => {
  test.each<[number, string[]]>([
    [
      17,
      [
        "queue jobs: maxReceiveCount 17 should be at least 100, since a ledger counts attempts: SQS " +
          "may dead-letter jobs that have budgets left, without a reason",
      ],
    ],
    [100, []],
  ])("is warned of with maxReceiveCount %i", async (maxReceiveCount, warnings) => {
    const queues = [{ name: "jobs", maxReceiveCount }];
    const world = await setup({ contract: { queues } });
    const told = world.heard("worker.contract-warning").filter(({ rule }) => rule === "B9");
    expect(told.map(({ message }) => message)).toEqual(warnings);
  });

  test("is nobody's concern where receives count", async () => {
    const world = await openWorld();
    void world.worker.start();
    await world.clock.settle();
    expect(world.heard("worker.contract-warning")).toEqual([]);
  });
});

describe("a ledger that is down", () => {
  const down: AttemptLedger = { open: () => Promise.reject(new Error("no table")) };

  test("stops no job, is told loudly, and nothing is given up by unknown counts", async () => {
    const world = await setup({
      attemptLedger: down,
      queue: { maxReceiveCount: 1_000 },
      contract: { worker: { maxAttempts: 2, backoffCapMs: 10_000 } },
      handler: () => {
        throw new Error("no printer");
      },
    });
    await world.send();
    await world.clock.advance(120_000);

    const outcomes = world.heard("job.ended").map(({ outcome }) => outcome);
    expect(outcomes.length).toBeGreaterThan(10);
    expect(new Set(outcomes)).toEqual(new Set(["failed"]));
    const uncounted = world.heard("job.uncounted");
    expect(uncounted).toHaveLength(outcomes.length);
    expect(uncounted[0]).toMatchObject({
      during: "open",
      job: { jobId: "job-1" },
      error: { message: "no table" },
    });
  });

  test("that does not answer holds a job up for one call's timeout, and a drain not at all", async () => {
    const world = await setup({
      attemptLedger: { open: () => new Promise(() => {}) },
      handler: (_, { signal }) => world.clock.sleep(600_000, signal),
    });
    await world.send();
    await world.clock.advance(500);
    expect(world.heard("job.started")).toEqual([]);
    await world.clock.advance(1_000);
    expect(world.heard("job.started")).toHaveLength(1);

    const ended = world.worker.drain({ kind: "request", by: "test" });
    await world.clock.advance(14_000);
    expect(await ended).toMatchObject({ unfinished: [{ disposal: "released" }] });
    expect(world.clock.pendingTimers).toBe(0);
  });
});

describe("a dead letter", () => {
  test("that its queue refuses stays away longer each time, is copied once it can be, and not run again", async () => {
    let runs = 0;
    const world = await setup({
      handler: () => {
        runs += 1;
        throw new PermanentJobError("no such customer");
      },
      contract: { worker: { backoffBaseMs: 5_000, backoffCapMs: 30_000 } },
    });
    const QueueUrl = world.queue.queueUrl.replace(/jobs$/, "jobs-dlq");
    await world.queue.account.perform("DeleteQueue", { QueueUrl });
    await world.send();
    await world.clock.advance(90_000);

    expect(world.heard("lease.retried").map(({ delayMs }) => delayMs)).toEqual([
      5_000, 10_000, 20_000, 30_000, 30_000,
    ]);
    expect(world.heard("lease.dead-lettered")).toEqual([]);

    await world.queue.account.perform("CreateQueue", { QueueName: "jobs-dlq" });
    await world.clock.advance(10_000);
    expect(world.queue.counts()).toMatchObject({ ...NOTHING_LEFT, deadLettered: 1 });
    expect(runs).toBe(1);
    expect(await deadLetter(world)).toMatchObject({ reason: "permanent", counts: { failures: 1 } });
  });
});
