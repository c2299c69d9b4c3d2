import { ManualClock } from "@leasehold/clock/manual";
import {
  type AnyJobDefinition,
  type AttemptLedger,
  type AttemptOpening,
  type JobContext,
  parseJobId,
  parseJobType,
  parseTenantId,
  writeEnvelope,
} from "@leasehold/job";
import { type Lease, openLeaseSource } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import {
  type JobEvent,
  JobRun,
  type RunParts,
  type RunPolicy,
  receiveBudgets,
  receiveCountLedger,
} from "../index.ts";

const anything: AnyJobDefinition["schema"] = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

const POLICY: RunPolicy = {
  jobTimeoutMs: 43_200_000,
  budgets: receiveBudgets(5),
  ledgerTimeoutMs: 1_000,
  backoff: { baseMs: 5_000, capMs: 900_000 },
  unknownTypeGraceMs: 3_600_000,
};

/** A ledger that knows nothing and takes its time; `told` is what it was told. */
function slowLedger({ openMs = 0, endMs = 0 }: { openMs?: number; endMs?: number }) {
  const clock = new ManualClock();
  const told: string[] = [];
  const opening: AttemptOpening = {
    kind: "open",
    history: { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 },
    end: async ({ kind }) => {
      told.push(kind);
      await clock.sleep(endMs);
    },
  };
  const ledger: AttemptLedger = {
    open: async () => {
      await clock.sleep(openMs);
      return opening;
    },
  };
  return { parts: { clock, ledger }, told };
}

async function setup(
  handler: (context: JobContext, clock: ManualClock) => unknown,
  changes: Partial<RunParts> & {
    readonly clock?: ManualClock;
    readonly maxHoldMs?: number;
    readonly schema?: AnyJobDefinition["schema"];
  } = {},
) {
  const { maxHoldMs = 43_200_000, schema = anything, ...more } = changes;
  const clock = changes.clock ?? new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const source = openLeaseSource({
    ...{ queue, clock, onEvent: () => {}, random: () => 0.5 },
    options: { maxHoldMs },
  });
  await queue.send(
    writeEnvelope({
      tenantId: parseTenantId("acme"),
      jobId: parseJobId("job-1"),
      jobType: parseJobType("test.work"),
      payload: {},
      createdAtMs: 0,
    }),
  );
  const [lease] = (await source.claim({ maxMessages: 1, waitMs: 0 })) as [Lease];
  const events: JobEvent[] = [];
  const draining = new AbortController();
  const run = new JobRun(lease, {
    clock,
    jobs: new Map([
      [
        "test.work",
        { type: "test.work", schema, handler: (_, context) => handler(context, clock) },
      ],
    ]),
    policy: POLICY,
    ledger: receiveCountLedger,
    draining: draining.signal,
    drainByMs: () => undefined,
    shortestDelayMs: () => 0,
    giveBack: (held, delayMs, releaseClass) => held.release(delayMs, releaseClass),
    onEvent: (event) => events.push(event),
    random: () => 0.5,
    ...more,
  });
  return { clock, queue, source, run, lease, events, draining };
}

describe("a run", () => {
  test("goes from reading to its end, and frees its slot before the ack is confirmed", async () => {
    const { clock, run } = await setup((_, time) => time.sleep(1_000));
    const order: string[] = [run.phase];
    void run.worked.then(() => order.push(`worked ${clock.monotonicMs()}`));
    void run.ended.then(({ outcome }) => order.push(`${outcome} ${clock.monotonicMs()}`));
    await clock.settle();
    order.push(run.phase);
    await clock.advance(2_000);
    expect(order).toEqual(["reading", "running", "worked 1000", "succeeded 1100"]);
    expect(run.phase).toBe("ended");
  });

  test("aborts where SQS lets a message be held no longer, and releases", async () => {
    const { clock, run, events } = await setup(
      async ({ signal }, time) => {
        await time.sleep(43_200_000, signal);
        signal.throwIfAborted();
      },
      { maxHoldMs: 600_000 },
    );
    await clock.advance(601_000);
    expect(await run.ended).toMatchObject({ outcome: "interrupted", ending: "release" });
    expect(events.find(({ kind }) => kind === "job.aborted")).toMatchObject({
      cause: "hold-limit",
    });
  });

  test("starts nothing once the drain has begun, but knows which job it gives back (bbc/sqs-consumer 582)", async () => {
    const { clock, run, draining, queue } = await setup(() => {
      throw new Error("started");
    });
    draining.abort();
    await clock.advance(100);
    expect(await run.ended).toMatchObject({ outcome: "unstarted", ending: "release" });
    expect([run.started, run.job?.jobId]).toEqual([false, "job-1"]);
    expect(queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("can be given up while its schema still thinks (Logflare 3849)", async () => {
    const schema: AnyJobDefinition["schema"] = {
      "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) },
    };
    const { clock, run, queue } = await setup(() => undefined, { schema });
    await clock.settle();
    run.abandon(3_000);
    await clock.advance(100);
    expect(await run.ended).toMatchObject({
      outcome: "unstarted",
      settled: { kind: "confirmed" },
    });
    expect(run.ignoredAbort).toBe(false);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
  });

  test("fails when its schema does not answer for as long as the job may run", async () => {
    const schema: AnyJobDefinition["schema"] = {
      "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) },
    };
    const policy = { ...POLICY, jobTimeoutMs: 30_000 };
    const { clock, run, queue, events } = await setup(() => undefined, { schema, policy });
    await clock.advance(29_999);
    expect([run.phase, run.job?.jobId, events]).toEqual(["reading", "job-1", []]);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "failed", ending: "retry" });
    expect(events).toMatchObject([
      { kind: "job.schema-timeout", attempt: 1, durationMs: 30_000, delayMs: 2_500 },
    ]);
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    expect(run.started).toBe(false);
  });

  test("dead-letters what its schema never answers for, when the attempts are used up", async () => {
    const schema: AnyJobDefinition["schema"] = {
      "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) },
    };
    const policy = { ...POLICY, jobTimeoutMs: 30_000, budgets: receiveBudgets(1) };
    const { clock, run, queue } = await setup(() => undefined, { schema, policy });
    await clock.advance(31_000);
    expect(await run.ended).toMatchObject({ outcome: "dead-lettered" });
    const [copy] = await queue.takeDeadLetters();
    expect(copy?.message.attributes["dead_letter_detail"]?.value).toBe(
      "attempt 1 of 1 failed: its schema did not answer within 30000 ms",
    );
  });

  test("leaves no timer of its schema behind when it is given up", async () => {
    const schema: AnyJobDefinition["schema"] = {
      "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) },
    };
    const policy = { ...POLICY, jobTimeoutMs: 3_600_000 };
    const { clock, run, source } = await setup(() => undefined, { schema, policy });
    await clock.settle();
    run.abandon(0);
    await clock.advance(100);
    source.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test("writes how it ended before it settles, and frees its slot before that", async () => {
    const { parts, told } = slowLedger({ endMs: 500 });
    const { clock, run, queue } = await setup(() => undefined, parts);
    const order: string[] = [];
    void run.worked.then(() => order.push(`worked at ${clock.monotonicMs()}`));
    await clock.advance(499);
    expect([order, told, queue.calls.filter(({ kind }) => kind === "delete")]).toEqual([
      ["worked at 0"],
      ["succeeded"],
      [],
    ]);
    await clock.advance(200);
    expect(await run.ended).toMatchObject({ outcome: "succeeded" });
  });

  test("settles a message all the same when its end cannot be written in time", async () => {
    const { parts, told } = slowLedger({ endMs: 3_600_000 });
    const { clock, run, events } = await setup(() => undefined, parts);
    await clock.advance(1_200);
    expect(await run.ended).toMatchObject({ outcome: "succeeded" });
    expect(told).toEqual(["succeeded"]);
    expect(events.filter(({ kind }) => kind === "job.uncounted")).toMatchObject([
      { during: "end", error: { name: "LedgerTimeoutError" } },
    ]);
  });

  test("takes its start back when the drain begins while its ledger is asked", async () => {
    const { parts, told } = slowLedger({ openMs: 500 });
    const { clock, run, draining, queue } = await setup(() => undefined, parts);
    await clock.advance(100);
    draining.abort();
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "unstarted", ending: "release" });
    expect([run.started, told]).toEqual([false, ["uncounted"]]);
    expect(queue.counts()).toMatchObject({ visible: 1 });
  });

  test("takes its start back when it is given up while its ledger is asked", async () => {
    const { parts, told } = slowLedger({ openMs: 500 });
    const { clock, run } = await setup(() => undefined, parts);
    await clock.advance(100);
    run.abandon(0);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "unstarted" });
    expect([run.started, told]).toEqual([false, ["uncounted"]]);
  });

  test("gives a message back at once when it is given up, whatever its ledger does", async () => {
    const { parts, told } = slowLedger({ endMs: 900 });
    const { clock, run, queue } = await setup((_, time) => time.sleep(60_000), parts);
    await clock.advance(100);
    run.abandon(5_000);
    await clock.advance(100);
    expect(queue.calls.filter(({ kind }) => kind === "changeVisibility")).toHaveLength(1);
    expect(told).toEqual(["interrupted"]);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "interrupted" });
  });

  test("is over for its worker when it is given up, whatever its handler says later", async () => {
    const { clock, run, events, queue } = await setup((_, time) => time.sleep(10_000));
    await clock.settle();
    run.abort("drain-deadline");
    run.abandon(5_000);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "interrupted", ending: "release" });
    expect(run.ignoredAbort).toBe(true);
    await clock.advance(10_000);
    expect(events.map(({ kind }) => kind)).toEqual([
      "job.started",
      "job.aborted",
      "job.ignored-abort",
      "job.abort-answered",
      "job.ended",
    ]);
    expect(queue.calls.filter(({ kind }) => kind === "delete")).toEqual([]);
  });

  test("does not give up an ack that is under way (celery/celery 9492)", async () => {
    const { clock, run, queue } = await setup(() => undefined);
    await clock.settle();
    run.abandon(0);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "succeeded" });
    expect(queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("keeps a retry hidden for as long as its worker says", async () => {
    const { clock, run, queue } = await setup(() => Promise.reject(new Error("x")), {
      shortestDelayMs: () => 12_000,
    });
    await clock.advance(1_000);
    await run.ended;
    const change = queue.calls.find(({ kind }) => kind === "changeVisibility");
    expect(change?.visibilityTimeoutsMs).toEqual([12_000]);
  });

  test("reports a fault of its surroundings instead of rejecting", async () => {
    const fault = new Error("bug");
    const { clock, run } = await setup(
      async ({ signal }, time) => {
        await time.sleep(5_000, signal);
        signal.throwIfAborted();
      },
      { giveBack: () => Promise.reject(fault) },
    );
    await clock.settle();
    run.abort("drain-deadline");
    await clock.settle();
    expect(await run.ended).toMatchObject({ fault, settled: { kind: "lapsing" } });
  });
});
