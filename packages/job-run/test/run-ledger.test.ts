import { ManualClock } from "@leasehold/clock/manual";
import {
  type AnyJobDefinition,
  type ControlOutcome,
  type EndAnswer,
  type JobContext,
  type JobLedger,
  type OpenJob,
  type OpenRequest,
  parseJobId,
  parseJobType,
  parseTenantId,
  writeEnvelope,
} from "@leasehold/job";
import { type Lease, openLeaseSource } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { type JobEvent, JobRun, receiveBudgets, receiveCountLedger } from "../index.ts";

/** A ledger in which one job is open; a test says how it answers, and sees what it is told. */
function openDouble() {
  const stop = new AbortController();
  const told: string[] = [];
  const requests: OpenRequest[] = [];
  let answer: () => Promise<EndAnswer> = async () => ({ kind: "recorded" });
  const open = {
    kind: "open" as const,
    history: { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 },
    outcome: undefined as ControlOutcome | undefined,
    isExcused: false,
    isDone: false,
    settleAtMs: undefined as number | undefined,
    leftOpen: [],
    stopped: stop.signal,
    once: async () => {
      throw new Error("no effect is expected");
    },
    checkpoint: { load: () => undefined, save: async () => {} },
    heartbeat: async () => {},
    end: ({ kind }: { readonly kind: string }) => {
      told.push(kind);
      return answer();
    },
  };
  const ledger: JobLedger = {
    open: async (request) => {
      requests.push(request);
      return open as OpenJob;
    },
  };
  const answerWith = (next: () => Promise<EndAnswer>) => {
    answer = next;
  };
  return { ledger, open, told, requests, answerWith };
}

async function setup(
  handler: (context: JobContext, clock: ManualClock) => unknown,
  jobLedger?: JobLedger,
) {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const source = openLeaseSource({ queue, clock, onEvent: () => {}, random: () => 0.5 });
  const content = writeEnvelope({
    tenantId: parseTenantId("acme"),
    jobId: parseJobId("job-1"),
    jobType: parseJobType("test.work"),
    payload: { secret: 1 },
    createdAtMs: 7,
  });
  await queue.send(content);
  const [lease] = (await source.claim({ maxMessages: 1, waitMs: 0 })) as [Lease];
  const events: JobEvent[] = [];
  const draining = new AbortController();
  const definition: AnyJobDefinition = {
    type: "test.work",
    schema: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    handler: (_: unknown, context: JobContext) => handler(context, clock),
    guard: true,
  };
  const run = new JobRun(lease, {
    clock,
    jobs: new Map([["test.work", definition]]),
    policy: {
      jobTimeoutMs: 43_200_000,
      budgets: receiveBudgets(5),
      ledgerTimeoutMs: 1_000,
      backoff: { baseMs: 5_000, capMs: 900_000 },
      unknownTypeGraceMs: 3_600_000,
    },
    ledger: receiveCountLedger,
    ...(jobLedger === undefined ? {} : { jobLedger }),
    draining: draining.signal,
    drainByMs: () => undefined,
    shortestDelayMs: () => 0,
    giveBack: (held, delayMs, releaseClass) => held.release(delayMs, releaseClass),
    onEvent: (event) => events.push(event),
    random: () => 0.5,
  });
  const calls = () => queue.calls.filter(({ kind }) => kind !== "receive").map(({ kind }) => kind);
  return { clock, queue, run, lease, events, draining, calls };
}

describe("a run with a job ledger", () => {
  test("tells it the delivery, and the message as it came", async () => {
    const { ledger, requests } = openDouble();
    const { clock, run } = await setup(() => undefined, ledger);
    await clock.advance(1_000);
    await run.ended;
    const [request] = requests;
    expect(request).toMatchObject({
      receiveCount: 1,
      retry: false,
      guard: true,
      checkpoints: false,
    });
    expect(Object.keys(request?.job ?? {}).sort()).toEqual(["jobId", "jobType", "tenantId"]);
    const { surroundings } = request ?? {};
    expect(surroundings).toMatchObject({ payload: { secret: 1 }, createdAtMs: 7 });
    const { body = "" } = surroundings?.copyMessage() ?? {};
    expect(JSON.parse(body)).toMatchObject({ job_id: "job-1", payload: { secret: 1 } });
  });

  test("acks only once its end is recorded", async () => {
    const recorded = Promise.withResolvers<EndAnswer>();
    const { ledger, answerWith, told } = openDouble();
    answerWith(() => recorded.promise);
    const { clock, run, calls } = await setup(() => "done", ledger);
    await clock.advance(5_000);
    expect([run.phase, told, calls()]).toEqual(["recording", ["succeeded"], []]);
    recorded.resolve({ kind: "recorded" });
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "succeeded", ending: "ack" });
    expect(calls()).toEqual(["delete"]);
  });

  test("gives its message back when there is no time left to record its end", async () => {
    const { ledger, answerWith } = openDouble();
    answerWith(() => new Promise(() => {}));
    const { clock, run, queue } = await setup(() => "done", ledger);
    await clock.advance(1_000);
    run.abandon(3_000);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ ending: "release", settled: { kind: "confirmed" } });
    expect(run.ignoredAbort).toBe(false);
    expect(queue.calls.at(-1)?.visibilityTimeoutsMs).toEqual([3_000]);
  });

  test("that is given up says nothing to SQS once it is fenced", async () => {
    const { ledger, open } = openDouble();
    const { clock, run, calls } = await setup(() => new Promise(() => {}), ledger);
    await clock.advance(1_000);
    open.outcome = { kind: "fenced" };
    run.abandon(3_000);
    await clock.advance(30_000);
    expect(await run.ended).toMatchObject({ ending: "let-go", settled: { kind: "lapsing" } });
    expect(calls()).toEqual([]);
  });

  test("that is given up hides its message until its effect has settled", async () => {
    const { ledger, open } = openDouble();
    const { clock, run, queue } = await setup(() => new Promise(() => {}), ledger);
    await clock.advance(1_000);
    open.settleAtMs = clock.wallMs() + 90_000;
    run.abandon(3_000);
    await clock.advance(1_000);
    expect(queue.calls.at(-1)?.visibilityTimeoutsMs).toEqual([90_000]);
  });

  test("ends its handler's try as the ledger says when it opens, and shows no payload", async () => {
    const busy: JobLedger = {
      open: async () => ({ kind: "busy", retryAtMs: Date.UTC(2026, 0, 1) + 30_000 }),
    };
    const { clock, run, events, queue } = await setup(() => undefined, busy);
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "stopped", ending: "retry" });
    expect(events).toMatchObject([
      { kind: "job.stopped", why: "busy", during: "open", delayMs: 30_000 },
    ]);
    expect(JSON.stringify(events)).not.toContain("secret");
    expect(queue.calls.at(-1)?.visibilityTimeoutsMs).toEqual([30_000]);
  });
});

describe("a run without a job ledger", () => {
  test("refuses effects and checkpoints, and says what to configure", async () => {
    const refused: string[] = [];
    const note = (error: unknown) => refused.push((error as Error).message);
    const { clock, run } = await setup(async ({ once, checkpoint }) => {
      await once("charge", {}, {} as never).catch(note);
      await checkpoint.save(1).catch(note);
      try {
        checkpoint.load();
      } catch (error) {
        note(error);
      }
    });
    await clock.advance(1_000);
    expect(await run.ended).toMatchObject({ outcome: "succeeded" });
    expect(refused).toHaveLength(3);
    for (const message of refused) expect(message).toContain("needs a job ledger");
    expect(refused[0]).toContain('configure one, for example ledger: { kind: "dynamodb", ... }');
  });
});
