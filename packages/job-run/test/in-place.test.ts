import { ManualClock } from "@leasehold/clock/manual";
import {
  type AnyJobDefinition,
  type JobContext,
  parseJobId,
  parseJobType,
  parseTenantId,
  writeEnvelope,
} from "@leasehold/job";
import { type Lease, openLeaseSource, type Turn } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import {
  type JobEvent,
  JobRun,
  memoryAttemptLedger,
  type RunParts,
  type RunPolicy,
  receiveBudgets,
  receiveCountLedger,
} from "../index.ts";

const POLICY: RunPolicy = {
  jobTimeoutMs: 43_200_000,
  budgets: receiveBudgets(5),
  ledgerTimeoutMs: 2_000,
  backoff: { baseMs: 8_000, capMs: 900_000 },
  unknownTypeGraceMs: 3_600_000,
};

/** A run of the first message of a FIFO group, and the lease of the second; `attempts` of its handler. */
async function setup(
  handler: (attempt: number) => unknown,
  changes: Partial<RunParts> & {
    readonly maxHoldMs?: number;
    readonly second?: { readonly body?: string };
  } = {},
) {
  const { maxHoldMs = 43_200_000, second = {}, ...more } = changes;
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock, name: "jobs.fifo" });
  const released: string[] = [];
  const source = openLeaseSource({
    ...{ queue, clock, random: () => 0.5 },
    onEvent: (event) => {
      if (event.kind === "lease.released") released.push(event.class);
    },
    options: { maxHoldMs },
  });
  for (const jobId of ["job-1", "job-2"]) {
    const content = writeEnvelope({
      tenantId: parseTenantId("acme"),
      jobId: parseJobId(jobId),
      jobType: parseJobType("test.work"),
      payload: {},
      createdAtMs: 0,
    });
    const changed = jobId === "job-2" ? second : {};
    await queue.send({ ...content, ...changed, groupId: "a", deduplicationId: jobId });
  }
  const leases = await source.claim({ maxMessages: 2, waitMs: 0 });
  const attempts: number[] = [];
  const events: JobEvent[] = [];
  const draining = new AbortController();
  const work: AnyJobDefinition = {
    type: "test.work",
    schema: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    handler: async (_: unknown, { attempt }: JobContext) => {
      attempts.push(attempt);
      await handler(attempt);
    },
  };
  const run = (lease: Lease) =>
    new JobRun(lease, {
      clock,
      jobs: new Map([["test.work", work]]),
      policy: POLICY,
      ledger: receiveCountLedger,
      inPlaceMs: 300_000,
      draining: draining.signal,
      drainByMs: () => undefined,
      shortestDelayMs: () => 0,
      giveBack: (held, delayMs, releaseClass) => held.release(delayMs, releaseClass),
      onEvent: (event) => events.push(event),
      random: () => 0.5,
      ...more,
    });
  const [lease, next] = leases as [Lease, Lease];
  const visibilities = () =>
    queue.calls
      .filter(({ kind }) => kind === "changeVisibility")
      .map(({ visibilityTimeoutsMs }) => visibilityTimeoutsMs);
  return { clock, queue, lease, next, run, attempts, events, released, draining, visibilities };
}

const fail = () => Promise.reject(new Error("fails"));

describe("a run that fails on a FIFO queue", () => {
  test("is tried again on its lease, at no call", async () => {
    const { clock, run, lease, attempts, visibilities } = await setup((attempt) =>
      attempt < 3 ? fail() : undefined,
    );
    const one = run(lease);
    await clock.advance(3_999);
    expect([one.phase, one.started, attempts]).toEqual(["held", true, [1]]);
    await clock.advance(1);
    expect([one.phase, attempts]).toEqual(["held", [1, 2]]);
    await clock.advance(8_000);
    expect(await one.ended).toMatchObject({ outcome: "succeeded", ending: "ack" });
    expect(attempts).toEqual([1, 2, 3]);
    expect(visibilities()).toEqual([]);
  });

  test("rests without a slot, and asks for its turn before the next try", async () => {
    const asked: string[] = [];
    const { clock, run, lease } = await setup((attempt) => (attempt === 1 ? fail() : undefined), {
      rest: () => asked.push(`rest at ${clockOf().monotonicMs()}`),
      turn: () => {
        asked.push(`turn at ${clockOf().monotonicMs()}`);
        return undefined;
      },
    });
    const clockOf = () => clock;
    run(lease);
    await clock.advance(5_000);
    expect(asked).toEqual(["turn at 0", "rest at 0", "turn at 4000"]);
  });

  test("is dead-lettered when its failures are too many", async () => {
    const { clock, run, lease, attempts } = await setup(fail);
    const one = run(lease);
    await clock.advance(300_000);
    expect(await one.ended).toMatchObject({ outcome: "dead-lettered" });
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
  });

  test("is counted by its ledger at each try, and found there by the next one", async () => {
    const { clock, run, lease, events } = await setup(fail, {
      ledger: memoryAttemptLedger(),
      policy: { ...POLICY, budgets: { failures: 3, interruptions: 0, crashes: 0 } },
    });
    const one = run(lease);
    await clock.advance(300_000);
    expect(await one.ended).toMatchObject({ outcome: "dead-lettered" });
    const tries = events.filter((event) => event.kind === "job.ended");
    expect(tries.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
      [1, 4_000],
      [2, 8_000],
      [3, undefined],
    ]);
  });

  test("goes back when its wait would be longer than it may be held", async () => {
    const { clock, run, lease, attempts, visibilities } = await setup(fail, { maxHoldMs: 60_000 });
    const one = run(lease);
    await clock.advance(30_000);
    expect(await one.ended).toMatchObject({ outcome: "failed", ending: "retry" });
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(visibilities().at(-1)).toEqual([0, 32_000]);
  });

  test("goes back with what is left of its wait when a drain begins", async () => {
    const { clock, run, lease, draining, visibilities } = await setup(fail);
    const one = run(lease);
    await clock.advance(1_000);
    draining.abort();
    await clock.advance(100);
    expect(await one.ended).toMatchObject({ outcome: "failed", settled: { kind: "confirmed" } });
    expect(visibilities()).toEqual([[0, 3_000]]);
    expect(one.ignoredAbort).toBe(false);
  });

  test("is not begun when its turn comes as the drain begins", async () => {
    const turn = Promise.withResolvers<Turn>();
    let asked = 0;
    const { clock, run, lease, draining, attempts, visibilities } = await setup(fail, {
      turn: () => {
        asked += 1;
        return asked === 1 ? undefined : turn.promise;
      },
    });
    const one = run(lease);
    await clock.advance(10_000);
    turn.resolve("come");
    void turn.promise.then(() => draining.abort());
    await clock.advance(100);
    expect(await one.ended).toMatchObject({ outcome: "unstarted", ending: "release" });
    expect(attempts).toEqual([1]);
    expect(visibilities()).toEqual([[0, 0]]);
  });

  test("is over when its lease is lost meanwhile, without a call", async () => {
    const { clock, run, lease, queue, attempts } = await setup((attempt) =>
      attempt < 4 ? fail() : undefined,
    );
    const one = run(lease);
    queue.fault = () => ({ kind: "throttled" });
    await clock.advance(59_000);
    queue.fault = () => undefined;
    const calls = queue.calls.length;
    await clock.advance(10_000);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(await one.ended).toMatchObject({ settled: { kind: "lost" } });
    expect(queue.calls.slice(calls)).toEqual([]);
  });

  test("is no handler that ignores its abort while it waits", async () => {
    const { clock, run, lease, events, released } = await setup(fail);
    const one = run(lease);
    await clock.advance(100);
    one.abandon(5_000);
    await clock.advance(100);
    expect(await one.ended).toMatchObject({ settled: { kind: "confirmed" } });
    expect(one.ignoredAbort).toBe(false);
    // What waits behind it in its group was never begun, and goes back first.
    expect(released).toEqual(["unstarted", "ended"]);
    expect(events.map(({ kind }) => kind)).toEqual(["job.started", "job.ended"]);
  });
});

describe("a run whose message waits for those before it", () => {
  test("starts when they are deleted", async () => {
    const { clock, run, lease, next, attempts } = await setup(() => undefined);
    const second = run(next);
    await clock.advance(1_000);
    expect([second.phase, attempts]).toEqual(["held", []]);
    run(lease);
    await clock.advance(1_000);
    expect(await second.ended).toMatchObject({ outcome: "succeeded" });
  });

  test("gives its message back when they go back", async () => {
    const { clock, run, lease, next, attempts } = await setup(() => undefined);
    const second = run(next);
    await clock.advance(1_000);
    void lease.release(0, "ended");
    await clock.advance(100);
    expect(await second.ended).toMatchObject({
      outcome: "unstarted",
      ending: "release",
      settled: { kind: "confirmed" },
    });
    expect(attempts).toEqual([]);
  });

  test("waits too when the message is no job", async () => {
    const { clock, run, lease, next, events } = await setup(() => undefined, {
      second: { body: "{" },
    });
    const second = run(next);
    await clock.advance(1_000);
    expect(events).toEqual([]);
    run(lease);
    await clock.advance(1_000);
    expect(await second.ended).toMatchObject({ outcome: "malformed", ending: "dead-letter" });
  });
});
