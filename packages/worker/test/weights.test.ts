import { ManualClock } from "@leasehold/clock/manual";
import { defineContract } from "@leasehold/deployment-contract";
import { defineJob } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { message } from "../../../test/support/worker-world.ts";
import { createWorker } from "../index.ts";

interface Line {
  readonly weight: number;
  readonly jobMs: number;
  readonly jobs: number;
}

const RECEIVE_MS = 10;

/** A worker of several queues, each with jobs of one length that are there from the start. */
async function setup(lines: readonly Line[], concurrency: number) {
  const clock = new ManualClock();
  const queues = await Promise.all(
    lines.map((_, index) =>
      modelLeaseQueue({
        clock,
        name: `q${index}`,
        fault: ({ kind }) =>
          kind === "receive" ? { kind: "slow-answer", delayMs: RECEIVE_MS } : undefined,
      }),
    ),
  );
  const worker = createWorker({
    contract: defineContract({
      preset: "drill",
      service: "t",
      queues: lines.map(({ weight }, index) => ({ name: `q${index}`, weight })),
      worker: { concurrency },
    }),
    jobs: lines.map(({ jobMs }, index) =>
      defineJob({
        type: `test.q${index}`,
        schema: z.object({ n: z.number() }),
        handler: (_, { signal }) => clock.sleep(jobMs, signal),
      }),
    ),
    queues,
    clock,
    random: () => 0.5,
  });
  const started = lines.map(() => 0);
  const startedAtMs = lines.map((): number[] => []);
  worker.onEvent((event) => {
    if (event.kind !== "job.started") return;
    const index = Number(event.lease.queue.slice(1));
    started[index] = (started[index] ?? 0) + 1;
    startedAtMs[index]?.push(clock.monotonicMs());
  });
  const send = async (index: number, jobs: number) => {
    const type = `test.q${index}`;
    for (let n = 0; n < jobs; n += 1) await queues[index]?.send(message(n, undefined, { type }));
  };
  for (const [index, { jobs }] of lines.entries()) await send(index, jobs);
  void worker.start();
  return { clock, queues, worker, started, startedAtMs, send };
}

/** How far each queue's part of all started jobs is from its part of all weights, in hundredths. */
function errors(started: readonly number[], weights: readonly number[]): number[] {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  return started.map((count, index) =>
    Math.abs((100 * count) / sum(started) - (100 * (weights[index] ?? 0)) / sum(weights)),
  );
}

describe("the weights of queues", () => {
  test.each([
    { weights: [1, 1], concurrency: 4, jobMs: 100 },
    { weights: [3, 1], concurrency: 4, jobMs: 100 },
    { weights: [9, 1], concurrency: 4, jobMs: 100 },
    { weights: [1, 9], concurrency: 10, jobMs: 100 },
    { weights: [5, 3, 2], concurrency: 20, jobMs: 200 },
    { weights: [1, 1, 1], concurrency: 4, jobMs: 100 },
    { weights: [7, 2, 1], concurrency: 3, jobMs: 50 },
    { weights: [9, 1], concurrency: 10, jobMs: 5_000 },
    { weights: [3, 1], concurrency: 20, jobMs: 100 },
  ])(
    "are the shares of started jobs while all are busy: $weights on $concurrency slots",
    async ({ weights, concurrency, jobMs }) => {
      const lines = weights.map((weight) => ({ weight, jobMs, jobs: 900 }));
      const { clock, started, queues } = await setup(lines, concurrency);
      await clock.advance((600 * jobMs) / concurrency);

      expect(queues.every((queue) => queue.counts().visible > 0)).toBe(true);
      expect(started.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(350);
      expect(Math.max(...errors(started, weights))).toBeLessThan(3);
    },
  );

  test("split slots, not jobs: short jobs are not held up behind long ones", async () => {
    const { clock, started } = await setup(
      [
        { weight: 1, jobMs: 60_000, jobs: 200 },
        { weight: 1, jobMs: 100, jobs: 3_000 },
      ],
      4,
    );
    await clock.advance(120_000);
    expect(started[0]).toBeGreaterThanOrEqual(4);
    expect(started[1]).toBeGreaterThan(1_000);
  });

  test("never starve a queue: with a hundredth of the weight it gets a hundredth", async () => {
    const { clock, startedAtMs, started } = await setup(
      [
        { weight: 100, jobMs: 100, jobs: 2_000 },
        { weight: 1, jobMs: 100, jobs: 100 },
      ],
      4,
    );
    await clock.advance(40_000);
    expect(started[0]).toBeGreaterThan(1_000);
    const gapsMs = startedAtMs[1]?.map((atMs, n, all) => atMs - (all[n - 1] ?? 0)) ?? [];
    expect(gapsMs.length).toBeGreaterThan(10);
    expect(Math.max(...gapsMs)).toBeLessThan(5_000);
  });

  test("start at once what comes to an idle queue beside a flooded one", async () => {
    const { clock, startedAtMs, send } = await setup(
      [
        { weight: 100, jobMs: 600_000, jobs: 100 },
        { weight: 1, jobMs: 100, jobs: 0 },
      ],
      4,
    );
    await clock.advance(30_000);
    expect(startedAtMs[0]).toHaveLength(3);
    await send(1, 1);
    await clock.advance(200);
    expect(startedAtMs[1]?.map((atMs) => atMs < 30_100)).toEqual([true]);
  });

  test("lend a queue's slots while it has nothing, and give them back within a second", async () => {
    const { clock, started, startedAtMs, send } = await setup(
      [
        { weight: 1, jobMs: 100, jobs: 1_000 },
        { weight: 1, jobMs: 100, jobs: 40 },
      ],
      10,
    );
    await clock.advance(10_000);
    expect(started[1]).toBe(40);
    const before = started[0] ?? 0;
    await clock.advance(5_000);
    expect((started[0] ?? 0) - before).toBeGreaterThan(250);
    await send(1, 100);
    await clock.advance(1_000);
    const soon = startedAtMs[1]?.filter((atMs) => atMs >= 15_000) ?? [];
    expect(soon.length).toBeGreaterThan(20);
  });

  test("hold after an outage of one queue: failed polls keep no slots, and earn no credit", async () => {
    const { clock, queues, started, send } = await setup(
      [
        { weight: 1, jobMs: 1_000, jobs: 2_500 },
        { weight: 1, jobMs: 1_000, jobs: 0 },
      ],
      3,
    );
    const [, flaky] = queues;
    if (flaky === undefined) throw new Error("two queues");
    const well = flaky.fault;
    flaky.fault = ({ kind }) => (kind === "receive" ? { kind: "throttled" } : undefined);
    await clock.advance(300_000);
    expect(started[0]).toBeGreaterThan(500);
    flaky.fault = well;
    await send(1, 300);
    await clock.advance(40_000);
    const before = [...started];
    await clock.advance(60_000);
    const since = started.map((count, index) => count - (before[index] ?? 0));
    expect(Math.max(...errors(since, [1, 1]))).toBeLessThan(3);
  });
});
