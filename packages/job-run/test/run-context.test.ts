import { ManualClock } from "@leasehold/clock/manual";
import { type JobContext, parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { type Lease, LeaseLostError, openLeaseSource } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { modelLeaseQueue } from "../../../test/support/model-lease-queue.ts";
import { SenderMissingError } from "../index.ts";
import { RunContext } from "../run-context.ts";

async function setup() {
  const clock = new ManualClock();
  const queue = await modelLeaseQueue({ clock });
  const source = openLeaseSource({ queue, clock, onEvent: () => {}, random: () => 0.5 });
  await queue.send();
  const [lease] = (await source.claim({ maxMessages: 1, waitMs: 0 })) as [Lease];
  lease.start();
  const draining = new AbortController();
  const causes: string[] = [];
  let drainByMs: number | undefined;
  const context = new RunContext({
    clock,
    lease,
    job: {
      tenantId: parseTenantId("acme"),
      jobId: parseJobId("job-1"),
      jobType: parseJobType("test.work"),
      payload: {},
      createdAtMs: 0,
    },
    attempt: 3,
    timeoutMs: 30_000,
    draining: draining.signal,
    drainByMs: () => drainByMs,
    onLog: () => {},
    onAbort: (cause) => causes.push(cause),
  });
  const drain = (atMs: number) => {
    drainByMs = atMs;
    draining.abort();
  };
  return { clock, queue, source, lease, context, given: context.forHandler(), causes, drain };
}

describe("the context of a run", () => {
  test("says who the job is and how often it was tried", async () => {
    const { given } = await setup();
    expect(given).toMatchObject({
      tenantId: "acme",
      jobId: "job-1",
      jobType: "test.work",
      attempt: 3,
      receiveCount: 1,
    });
  });

  test.each<[string, (given: JobContext) => unknown, boolean]>([
    ["nobody looked", () => undefined, false],
    ["only the rest was used", ({ draining, lease }) => [draining, lease.remainingMs()], false],
    ["it was read", ({ signal }) => signal, true],
    ["the context was copied", (given) => ({ ...given }), true],
  ])("notes whether its signal was read: %s", async (_, use, wasRead) => {
    const { context, given } = await setup();
    use(given);
    expect(context.signalWasRead).toBe(wasRead);
  });

  test("knows its own done, and no other", async () => {
    const { context, given } = await setup();
    const other = await setup();
    expect(context.isDone(given.done(7))).toBe(true);
    expect(context.isDone({ kind: "done", result: 7 })).toBe(false);
    expect(context.isDone(other.given.done(7))).toBe(false);
    expect(context.isDone(undefined)).toBe(false);
  });

  test("aborts at the job's limit, with the reason (bbc/sqs-consumer 168)", async () => {
    const { clock, context, given, causes } = await setup();
    await clock.advance(30_000);
    expect(given.signal.reason).toMatchObject({ code: "JOB_ABORTED", abortCause: "job-timeout" });
    expect([context.abortCause, context.abortedAtMs, causes]).toEqual([
      "job-timeout",
      30_000,
      ["job-timeout"],
    ]);
  });

  test("keeps its first reason, but a lost lease outweighs it", async () => {
    const { clock, queue, context, given } = await setup();
    context.abort("drain-deadline");
    context.abort("job-timeout");
    expect(context.abortCause).toBe("drain-deadline");
    queue.fault = () => ({ kind: "server-error" });
    await clock.advance(60_000);
    expect(context.abortCause).toBe("lease-lost");
    expect(given.signal.reason).toMatchObject({ abortCause: "drain-deadline" });
    expect(() => given.lease.assertHeld()).toThrow(LeaseLostError);
    expect(given.lease.remainingMs()).toBe(0);
  });

  test("hands the hint on without exposing the worker's own signal", async () => {
    const { given, drain, clock } = await setup();
    expect(given.remainingMs()).toBe(30_000);
    drain(12_000);
    expect(given.draining.aborted).toBe(true);
    expect(given.signal.aborted).toBe(false);
    await clock.advance(2_000);
    expect(given.remainingMs()).toBe(10_000);
    await clock.advance(20_000);
    expect(given.remainingMs()).toBe(0);
  });

  test("leaves no timer behind and does nothing once it is closed", async () => {
    const { clock, source, context, given } = await setup();
    context.close();
    await clock.advance(31_000);
    expect(given.signal.aborted).toBe(false);
    source.close();
    expect(clock.pendingTimers).toBe(0);
  });

  test("cannot send children without a sender", async () => {
    const { given } = await setup();
    const sending = given.send("receipt", { type: "receipt.render", payload: 1 });
    await expect(sending).rejects.toThrow(SenderMissingError);
  });
});
