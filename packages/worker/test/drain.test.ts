import type { JobContext } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import type { ModelCall } from "../../../test/support/model-lease-queue.ts";
import {
  openWorld,
  type TestHandler,
  type World,
  type WorldOptions,
} from "../../../test/support/worker-world.ts";

/** Preset `drill`: drain 8 s, abort 1 s, release 2 s, flush 1 s, wait 2 s, kill after 14 s. */
async function setup(options: WorldOptions = {}) {
  const world = await openWorld(options);
  const timeline: string[] = [];
  const note = (what: string) => timeline.push(`${world.clock.monotonicMs()} ${what}`);
  world.queue.fault = (call) => void note(wordOf(call));
  world.worker.onEvent((event) => {
    if (event.kind === "claim.poll") note(`poll ended with ${event.received}`);
    if (event.kind === "worker.phase") note(event.phase);
  });
  void world.worker.start();
  await world.clock.settle();
  return { ...world, timeline };
}

function wordOf({ kind, visibilityTimeoutsMs }: ModelCall): string {
  return kind === "changeVisibility" ? `visibility ${visibilityTimeoutsMs.join(",")}` : kind;
}

const SIGTERM = { kind: "signal", signal: "SIGTERM" } as const;

/** Works for a time and stops as soon as it is asked to, by throwing what it was told. */
function obedient(world: () => World, durationMs: number): TestHandler {
  return async (_, { signal }) => {
    await world().clock.sleep(durationMs, signal);
    signal.throwIfAborted();
  };
}

async function busy(durationMs: number, options: WorldOptions = {}) {
  const handler: TestHandler = (job, context) => obedient(() => world, durationMs)(job, context);
  const world = await setup({ handler, ...options });
  await world.send();
  await world.clock.advance(500);
  return world;
}

describe("the first tick of a drain", () => {
  test("raises the flag, turns readiness, tells of each job, tapers and hints, all at once (temporalio/sdk-typescript 1739)", async () => {
    const steps: string[] = [];
    const world = await setup({
      handler: (_, { draining }) =>
        new Promise<void>((resolve) => {
          draining.addEventListener("abort", () => {
            steps.push(`hint, ready ${world.worker.snapshot().health.ready}`);
            resolve();
          });
        }),
    });
    await world.send(2);
    await world.clock.advance(500);
    world.queue.fault = (call) => void steps.push(wordOf(call));
    world.worker.onEvent(({ kind }) => {
      if (kind.startsWith("drain.") || kind === "worker.phase") steps.push(kind);
    });
    expect(world.worker.snapshot().health).toEqual({ ready: true, alive: true, reasons: [] });

    expect(world.worker.signal("SIGTERM")).toBe("draining");

    expect(steps).toEqual([
      "worker.phase",
      "drain.started",
      "drain.in-flight",
      "drain.in-flight",
      "hint, ready false",
      "hint, ready false",
    ]);
    expect(world.heard("drain.started")).toMatchObject([
      { cause: SIGTERM, inFlight: 2, openPolls: 1, drainByMs: Date.UTC(2026, 0, 1, 0, 0, 8, 500) },
    ]);
    expect(world.heard("drain.in-flight")).toMatchObject([
      { job: { tenantId: "acme", jobId: "job-1", jobType: "test.work" }, started: true },
      { job: { jobId: "job-2" }, heldMs: 450 },
    ]);
    expect(world.worker.snapshot()).toMatchObject({
      phase: "draining",
      health: { ready: false, alive: true },
      killAtMs: Date.UTC(2026, 0, 1, 0, 0, 14, 500),
    });
  });

  test("tapers leases that reach beyond two seconds after the kill", async () => {
    const world = await busy(60_000, { contract: { lease: { visibilityTimeoutMs: 30_000 } } });
    world.worker.signal("SIGTERM");
    await world.clock.settle();

    expect(world.timeline.filter((line) => line.includes("visibility"))).toEqual([
      "500 visibility 16000",
    ]);
    expect(world.heard("drain.tapered")).toMatchObject([{ leases: 1, refused: 0 }]);
  });
});

describe("a drain", () => {
  test("makes no claim after the signal and frees nothing before its own poll has ended (taskforcesh/bullmq 4163)", async () => {
    const world = await busy(60_000);
    world.worker.signal("SIGTERM");
    await world.clock.advance(20_000);

    const from = world.timeline.indexOf("500 draining");
    const drained = world.timeline.slice(from);
    expect(drained.filter((line) => line.endsWith("receive"))).toEqual([]);
    const pollEnd = drained.findIndex((line) => line.endsWith("poll ended with 0"));
    const freed = drained.findIndex((line) => line.endsWith("visibility 0"));
    expect(pollEnd).toBeGreaterThan(0);
    expect(freed).toBeGreaterThan(pollEnd);
  });

  test("acks short jobs and exits clean as soon as the last poll has ended", async () => {
    const world = await busy(3_000);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(2_600);

    const report = await ended;
    expect(report).toMatchObject({
      exitCode: 0,
      unfinished: [],
      totals: { inFlightAtStart: 1, acked: 1, released: 0, pollsLeft: 0 },
    });
    expect(report.endedAtMs - report.startedAtMs).toBe(2_500);
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("gives a long job back at the deadline, and another worker runs it within a second", async () => {
    const world = await busy(60_000);
    const startedAtMs: number[] = [];
    const other = world.another(() => void startedAtMs.push(world.clock.monotonicMs()));
    void other.worker.start();
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(9_500);

    expect(await ended).toMatchObject({
      exitCode: 75,
      unfinished: [
        {
          job: { tenantId: "acme", jobId: "job-1", jobType: "test.work" },
          disposal: "released",
          started: true,
          ignoredAbort: false,
        },
      ],
      phasesMs: { draining: 8_000, releasing: 0 },
    });
    expect(startedAtMs).toHaveLength(1);
    expect(startedAtMs[0]).toBeLessThan(500 + 8_000 + 1_000);
  });

  test("ends with 0 after released work when the platform wants that", async () => {
    const world = await busy(60_000, { options: { exitZeroOnRelease: true } });
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(20_000);
    expect(await ended).toMatchObject({ exitCode: 0, unfinished: [{ disposal: "released" }] });
  });

  test("releases each lease as soon as its own handler has ended", async () => {
    const world = await setup({
      handler: async ({ payload }, { signal }) => {
        await world.clock.sleep(60_000, signal);
        await world.clock.sleep(payload.n * 200);
        signal.throwIfAborted();
      },
    });
    await world.send(3);
    await world.clock.advance(500);
    world.worker.signal("SIGTERM");
    await world.clock.advance(20_000);

    const freed = world.timeline.filter((line) => line.includes("visibility 0"));
    expect(freed).toEqual(["8720 visibility 0", "8920 visibility 0", "9120 visibility 0"]);
  });

  test("never starts what its open poll still brings, and frees it at once (shoplineapp/sl-express PR 143)", async () => {
    const started: number[] = [];
    const world = await setup({ handler: ({ payload }) => void started.push(payload.n) });
    await world.clock.advance(100);
    const other = world.another(({ payload }) => void started.push(payload.n + 100));
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(1_500);
    await world.send();
    await world.clock.advance(100);

    expect(await ended).toMatchObject({
      exitCode: 0,
      unfinished: [{ job: { jobId: "job-1" }, started: false, disposal: "released" }],
    });
    expect(world.heard("drain.late-arrival")).toHaveLength(1);
    void other.worker.start();
    await world.clock.advance(100);
    expect(started).toEqual([101]);
  });

  test("waits for every poll of the queue before it frees what one of them brought (celery/kombu 1835, PR 2049)", async () => {
    const world = await setup({ contract: { worker: { concurrency: 30 } } });
    await world.send(1);
    await world.clock.advance(100);
    await world.clock.advance(1_000);
    expect(world.worker.snapshot().queues[0]?.openPolls).toBe(2);
    world.worker.signal("SIGTERM");
    await world.send(1, 2);
    await world.clock.advance(5_000);

    const lines = world.timeline.map((line) => line.replace(/^\d+ /, ""));
    const freed = lines.indexOf("visibility 0");
    expect(lines.slice(0, freed).filter((line) => line === "poll ended with 0")).not.toEqual([]);
    expect(lines.filter((line) => line === "visibility 0")).toHaveLength(1);
    expect(world.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("runs a job again whose handler returned quietly, and acks one that said done", async () => {
    const world = await setup({
      handler: async ({ payload }, context: JobContext) => {
        await world.clock.sleep(60_000, context.signal);
        return payload.n === 1 ? undefined : context.done("checkpointed");
      },
    });
    await world.send(2);
    await world.clock.advance(500);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(10_000);

    expect(await ended).toMatchObject({ exitCode: 75, unfinished: [{ job: { jobId: "job-1" } }] });
    expect(world.heard("job.quiet-return")).toMatchObject([{ job: { jobId: "job-1" } }]);
    expect(world.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("keeps a failure's delay when the job failed of something else during the abort", async () => {
    const world = await setup({
      handler: async (_, { signal }) => {
        await world.clock.sleep(60_000, signal);
        throw new Error("connection closed");
      },
    });
    await world.send();
    await world.clock.advance(500);
    world.worker.signal("SIGTERM");
    await world.clock.advance(10_000);

    expect(world.heard("job.ended")).toMatchObject([{ outcome: "interrupted" }]);
    expect(world.heard("lease.released")).toMatchObject([{ class: "failed", delayMs: 3_000 }]);
  });

  test("gives the lease of a handler that ignores its abort back for after the exit (riverqueue/river 78, PR 1289)", async () => {
    const world = await setup({ handler: () => new Promise(() => {}) });
    await world.send();
    await world.clock.advance(500);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(9_100);

    expect(await ended).toMatchObject({
      exitCode: 76,
      unfinished: [{ disposal: "released", ignoredAbort: true, started: true }],
    });
    expect(world.heard("lease.released")).toMatchObject([
      { class: "ignored-abort", delayMs: 4_000 },
    ]);
    expect(world.heard("job.ignored-abort")).toMatchObject([{ sinceMs: 1_000 }]);
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("reports a release without answer as left to lapse, and does not repeat it", async () => {
    const world = await busy(60_000);
    world.worker.signal("SIGTERM");
    await world.clock.advance(7_900);
    world.queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "lost-request" } : undefined;
    const calls = world.queue.calls.length;
    await world.clock.advance(5_000);

    const report = await world.worker.ended;
    expect(report).toMatchObject({ exitCode: 74, unfinished: [{ disposal: "lapsing" }] });
    expect(world.queue.calls.length - calls).toBe(1);
    const visibleByMs = report.unfinished[0]?.visibleByMs ?? 0;
    expect(visibleByMs - report.startedAtMs).toBeLessThanOrEqual(16_000);
  });

  test("gives back a message that came again while its former run went on", async () => {
    const world = await setup({ handler: () => world.clock.sleep(13_000) });
    await world.send();
    await world.clock.advance(500);
    world.queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "server-error" } : undefined;
    await world.clock.advance(10_500);
    world.queue.fault = () => undefined;
    expect(world.heard("lease.lost")).toHaveLength(1);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(4_000);

    expect(await ended).toMatchObject({ totals: { released: 1 } });
    expect(world.heard("job.started")).toHaveLength(1);
    expect(world.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("awaits an ack that is under way at its deadlines", async () => {
    const world = await busy(7_900);
    const ended = world.worker.drain(SIGTERM);
    await world.clock.advance(7_300);
    world.queue.fault = ({ kind }) =>
      kind === "delete" ? { kind: "slow-answer", delayMs: 900 } : undefined;
    await world.clock.advance(3_000);

    expect(await ended).toMatchObject({ exitCode: 0, totals: { acked: 1 }, unfinished: [] });
    expect(world.heard("lease.released")).toEqual([]);
  });

  test("hides a job that fails in the drain from the poll that is still open", async () => {
    const world = await setup({
      random: 0,
      handler: async () => {
        await world.clock.sleep(1_000);
        throw new Error("no printer");
      },
    });
    await world.send();
    await world.clock.advance(500);
    world.worker.signal("SIGTERM");
    await world.clock.advance(5_000);

    expect(world.heard("lease.retried")).toMatchObject([{ delayMs: 3_000 }]);
    expect(world.heard("drain.late-arrival")).toEqual([]);
    expect(await world.worker.ended).toMatchObject({ exitCode: 0, unfinished: [] });
  });

  test("says what it saw of a worker that was never started", async () => {
    const world = await openWorld();
    const report = await world.worker.drain(SIGTERM);
    expect(report).toMatchObject({ exitCode: 0, unfinished: [], totals: { inFlightAtStart: 0 } });
    await world.worker.start();
    await world.clock.advance(5_000);
    expect(world.queue.calls).toEqual([]);
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("of a fatal error ends in 70, with the work given back", async () => {
    const world = await busy(60_000);
    const error = { name: "TypeError", message: "undefined is not a function" };
    const ended = world.worker.drain({ kind: "fatal", error });
    await world.clock.advance(20_000);
    expect(await ended).toMatchObject({ exitCode: 70, unfinished: [{ disposal: "released" }] });
  });
});

describe("a drain behind a blocked event loop", () => {
  test("counts its deadlines from the last turn before the block", async () => {
    const world = await busy(60_000, { contract: { lease: { visibilityTimeoutMs: 30_000 } } });
    await world.clock.block(5_000);
    world.worker.signal("SIGTERM");

    expect(world.heard("drain.started")).toMatchObject([
      {
        drainByMs: Date.UTC(2026, 0, 1, 0, 0, 8, 500),
        killAtMs: Date.UTC(2026, 0, 1, 0, 0, 14, 500),
      },
    ]);
    await world.clock.advance(4_000);
    expect(await world.worker.ended).toMatchObject({ exitCode: 75 });
  });

  test("counts from the signal when the loop ran freely", async () => {
    const world = await busy(60_000);
    await world.clock.block(5_000);
    await world.clock.advance(1_000);
    world.worker.signal("SIGTERM");
    expect(world.heard("drain.started")).toMatchObject([
      { drainByMs: Date.UTC(2026, 0, 1, 0, 0, 14, 500) },
    ]);
  });
});

describe("the ladder of signals", () => {
  test("counts a repeat within a second as one", async () => {
    const world = await busy(60_000);
    expect(world.worker.signal("SIGINT")).toBe("draining");
    await world.clock.advance(900);
    expect(world.worker.signal("SIGINT")).toBe("ignored");
    expect(world.worker.snapshot().phase).toBe("draining");
    expect(world.heard("drain.signal-ignored")).toMatchObject([{ sinceLastMs: 900 }]);
  });

  test("aborts at the second, gives back at the third, ends at the fourth (taskcluster 8291)", async () => {
    const world = await setup({ handler: () => new Promise(() => {}) });
    await world.send();
    await world.clock.advance(500);
    world.queue.fault = ({ kind }) =>
      kind === "changeVisibility" ? { kind: "slow-request", delayMs: 10_000 } : undefined;
    const seen: unknown[] = [];
    for (const signal of ["SIGTERM", "SIGTERM", "SIGINT"]) {
      seen.push(world.worker.signal(signal), world.worker.snapshot().phase);
      await world.clock.advance(signal === "SIGINT" ? 500 : 1_000);
    }
    await world.clock.advance(500);
    seen.push(world.worker.signal("SIGTERM"));

    expect(seen).toEqual([
      "draining",
      "draining",
      "escalated",
      "aborting",
      "ignored",
      "releasing",
      "force-exit",
    ]);
    expect(await world.worker.ended).toMatchObject({ exitCode: 143 });
  });

  test("shortens the deadlines: abort a second after the second signal", async () => {
    const world = await busy(60_000);
    const ended = world.worker.drain(SIGTERM);
    world.worker.signal("SIGTERM");
    await world.clock.advance(2_500);
    expect(world.worker.signal("SIGTERM")).toBe("escalated");
    await world.clock.advance(100);

    expect(await ended).toMatchObject({
      exitCode: 75,
      phasesMs: { draining: 2_500, aborting: 20 },
    });
  });

  test("goes straight to the abort at SIGQUIT", async () => {
    const world = await busy(60_000);
    expect(world.worker.signal("SIGQUIT")).toBe("escalated");
    expect(world.heard("job.aborted")).toMatchObject([{ cause: "drain-deadline" }]);
  });

  test("ends at once at the second when only polls are open, and says so (aws-sdk-js 2350; superlog PR 280)", async () => {
    const world = await setup();
    await world.clock.advance(100);
    world.worker.signal("SIGTERM");
    await world.clock.advance(1_100);
    world.worker.signal("SIGTERM");
    await world.clock.settle();

    const report = await world.worker.ended;
    expect(report).toMatchObject({
      exitCode: 0,
      totals: { pollsLeft: 1 },
      queuesWithPollsLeft: ["jobs"],
    });
    expect(report.summary).toContain("1 open poll was left on jobs");
  });

  test("hides what it gives back from its own poll when there is no time to await it", async () => {
    const world = await busy(60_000, { contract: { preset: "default-30" } });
    await world.clock.advance(1_000);
    world.worker.signal("SIGQUIT");
    await world.clock.advance(6_000);

    expect(await world.worker.ended).toMatchObject({ exitCode: 75, totals: { pollsLeft: 1 } });
    expect(world.heard("lease.released")).toMatchObject([
      { class: "poll-aborted", delayMs: 8_000 },
    ]);
  });
});
