import { fromJson, PermanentJobError, RetryLaterError } from "@leasehold/job";
import { InvalidOptionsError } from "@leasehold/options";
import { describe, expect, test } from "vitest";
import { message, type TestHandler } from "../../../test/support/worker-world.ts";
import { lambdaHandler } from "../index.ts";
import { openSite, workJob } from "./lambda-site.ts";

describe("lambdaHandler", () => {
  test("reports nothing when all jobs of a batch are done, and Lambda deletes them", async () => {
    const worked: number[] = [];
    const site = await openSite({ handler: ({ payload }) => void worked.push(payload.n) });
    await site.send(1, 2, 3);
    expect(await site.invoke()).toEqual({ kind: "answered", failures: [], tookMs: 0 });
    expect(worked.sort()).toEqual([1, 2, 3]);
    expect(site.queue.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 });
  });

  test("deletes nothing by itself: what it does not report is Lambda's to delete", async () => {
    const site = await openSite();
    await site.send(1);
    await site.invoke();
    expect(site.queue.calls.map(({ kind }) => kind)).toEqual(["changeVisibility"]);
  });

  test("reports the one job that failed, and it comes back after its backoff", async () => {
    const site = await openSite({
      handler: ({ payload: { n } }) => {
        if (n === 2) throw new Error("the provider is down");
      },
    });
    const [, second] = await site.send(1, 2, 3);
    expect(await site.invoke()).toMatchObject({ failures: [second] });
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    // Half of 5 s, for the jitter of this test is one half, in whole seconds.
    await site.clock.advance(1_000);
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    await site.clock.advance(1_100);
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("reports every job when every job fails, instead of throwing (powertools-lambda-typescript 2122)", async () => {
    const site = await openSite({
      handler: () => {
        throw new Error("no");
      },
    });
    const ids = await site.send(1, 2);
    const failures = expect.toSatisfy(
      (reported) => reported.toSorted().join() === ids.toSorted().join(),
    );
    expect(await site.invoke()).toMatchObject({ kind: "answered", failures });
  });

  test("keeps nothing of a batch for the next: a message that failed once is not reported again", async () => {
    const seen = new Map<number, number>();
    const site = await openSite({
      handler: ({ payload: { n } }) => {
        const times = (seen.get(n) ?? 0) + 1;
        seen.set(n, times);
        if (n === 1 && times === 1) throw new Error("at first");
      },
    });
    const [first] = await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [first] });
    await site.send(2, 3);
    expect(await site.invoke(10_000)).toMatchObject({ failures: [] });
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(Object.fromEntries(seen)).toEqual({ 1: 2, 2: 1, 3: 1 });
  });

  test("keeps two batches apart that one sandbox works at the same time", async () => {
    const site = await openSite({
      handler: async ({ payload: { n } }) => {
        await site.clock.sleep(1_000);
        if (n < 2) throw new Error("no");
      },
    });
    const [first] = await site.send(1);
    const one = await site.poller.take();
    await site.send(2);
    const other = await site.poller.take();
    const ends = Promise.all([
      site.poller.invoke(site.handler, one),
      site.poller.invoke(site.handler, other),
    ]);
    await site.clock.advance(2_000);
    expect(await ends).toMatchObject([{ failures: [first] }, { failures: [] }]);
  });

  test("dead-letters a hopeless job with its reason, and reports it as done", async () => {
    const site = await openSite({
      handler: () => {
        throw new PermanentJobError("the customer is unknown");
      },
    });
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    const [dead] = await site.queue.takeDeadLetters();
    expect(dead?.message.attributes["dead_letter_reason"]?.value).toBe("permanent");
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });

  test("dead-letters what is no job beside jobs that go on", async () => {
    const site = await openSite();
    await site.queue.send({ body: "not json" });
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(site.queue.counts()).toMatchObject({ inFlight: 0, deadLettered: 1 });
  });

  test("gives a job of an unknown type back, for a function that knows it", async () => {
    const site = await openSite();
    const id = await site.queue.send(message(1, undefined, { type: "test.other" }));
    expect(await site.invoke()).toMatchObject({ failures: [id] });
    expect(site.heard("job.unknown-type")).toHaveLength(1);
  });

  test("lets a job say when it is wanted again", async () => {
    const site = await openSite({
      handler: () => {
        throw new RetryLaterError(60_000);
      },
    });
    await site.send(1);
    await site.invoke();
    await site.clock.advance(58_000);
    expect(site.queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
    await site.clock.advance(2_000);
    expect(site.queue.counts()).toMatchObject({ visible: 1, inFlight: 0 });
  });

  test("runs a message once that a batch has twice", async () => {
    const runs: number[] = [];
    const site = await openSite({ handler: ({ payload }) => void runs.push(payload.n) });
    await site.send(1);
    const { Records } = await site.poller.take();
    expect(await site.invoke(0, { Records: [...Records, ...Records] })).toMatchObject({
      failures: [],
    });
    expect(runs).toEqual([1]);
  });

  test.each([
    ["in all", 3, {}, 300, 3],
    ["of a type", 10, { maxConcurrent: 1 }, 700, 1],
  ])("runs no more jobs at once %s than it may", async (_, concurrency, more, tookMs, expected) => {
    let running = 0;
    let most = 0;
    const job = workJob(async () => {
      running += 1;
      most = Math.max(most, running);
      await site.clock.sleep(100);
      running -= 1;
    }, more);
    const site = await openSite({ jobs: [job], options: { concurrency } });
    await site.send(1, 2, 3, 4, 5, 6, 7);
    expect(await site.invoke()).toEqual({ kind: "answered", failures: [], tookMs });
    expect(most).toBe(expected);
  });

  test("works a batch of more messages than a call of SQS takes (middy 722)", async () => {
    const worked: number[] = [];
    const site = await openSite({ handler: ({ payload }) => void worked.push(payload.n) });
    await site.send(...Array.from({ length: 25 }, (_, index) => index));
    const takes = [await site.poller.take(), await site.poller.take(), await site.poller.take()];
    const Records = takes.flatMap((taken) => taken.Records);
    expect(await site.invoke(1_000, { Records })).toMatchObject({ failures: [] });
    expect(worked).toHaveLength(25);
    expect(site.queue.calls.map(({ entries }) => entries)).toEqual([10, 10, 5]);
  });

  test("answers an empty batch with nothing", async () => {
    const site = await openSite();
    expect(await site.invoke(0, { Records: [] })).toMatchObject({ failures: [] });
  });

  test("tells each answer, with what is left of the time", async () => {
    const site = await openSite();
    await site.send(1);
    await site.invoke();
    expect(site.heard("lambda.answered")).toEqual([
      {
        ...{ kind: "lambda.answered", requestId: "request-1", queue: "jobs" },
        ...{ messages: 1, failures: 0, stillRunning: 0, timeLeftMs: 30_000 },
      },
    ]);
  });

  test("names the job of each lease that has ended", async () => {
    const site = await openSite();
    await site.send(1);
    await site.invoke();
    expect(site.heard("lease.acked")).toMatchObject([
      { job: { tenantId: "acme", jobId: "job-1" } },
    ]);
  });

  test("works messages of services that do not use the producer", async () => {
    const worked: unknown[] = [];
    const readers = [
      fromJson<{ n: number; shop: string }>({
        type: "test.work",
        identity: ({ shop, n }) => ({ tenantId: shop, jobId: `order-${n}` }),
      }),
    ];
    const handler: TestHandler = ({ tenantId, jobId, payload }) =>
      void worked.push([tenantId, jobId, payload.n]);
    const site = await openSite({ readers, handler });
    await site.queue.send({ body: '{"shop":"acme","n":7}' });
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(worked).toEqual([
      ["acme", "order-7", 7],
      ["acme", "job-1", 1],
    ]);
  });

  test("is not harmed by a listener that throws", async () => {
    const site = await openSite({
      onEvent: () => {
        throw new Error("the listener's own fault");
      },
    });
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
  });
});

describe("lambdaHandler, called wrongly", () => {
  const work = workJob(() => undefined);

  test.each([
    ["no jobs", () => lambdaHandler([]), "jobs must be a list of at least one definition"],
    ["a type twice", () => lambdaHandler([work, work]), "got more of test.work"],
    [
      "an option of another name",
      () => lambdaHandler([work], { options: { concurency: 3 } as never }),
      "concurency is not a lambda option",
    ],
    [
      "times in the wrong order",
      () => lambdaHandler([work], { options: { abortMs: 9_000 } }),
      "lastStartMs (5000) must be at least abortMs (9000)",
    ],
    [
      "a part of another name",
      () => lambdaHandler([work], { queue: [] } as never),
      "queue is no part of a Lambda handler",
    ],
    [
      "a guarded job without a ledger",
      () => lambdaHandler([workJob(() => undefined, { guard: true })]),
      "job test.work has guard: true, which needs a job ledger: give it openLedger",
    ],
  ])("refuses %s at once", (_, call, problem) => {
    expect(call).toThrow(InvalidOptionsError);
    expect(call).toThrow(problem);
  });

  test("throws for a batch of a queue that it was not given, before anything runs", async () => {
    const site = await openSite();
    await site.send(1);
    const { Records } = await site.poller.take();
    const eventSourceARN = "arn:aws:sqs:eu-central-1:000000000000:mail";
    const event = { Records: Records.map((record) => ({ ...record, eventSourceARN })) };
    const ended = await site.invoke(0, event);
    expect(ended).toMatchObject({
      kind: "threw",
      error: {
        code: "INVALID_SQS_EVENT",
        message: "the batch is of queue mail, and this function was given jobs: add it to queues",
      },
    });
  });

  test("throws where its timeout leaves no time for any job, so that Lambda counts an error", async () => {
    const site = await openSite({ poller: { timeoutMs: 3_000 } });
    await site.send(1);
    const ended = await site.invoke();
    expect(ended).toMatchObject({ kind: "threw", error: { code: "LAMBDA_TIME_TOO_SHORT" } });
    expect((ended as { error: Error }).error.message).toBe(
      "the invocation began with 3000 ms left, and no job starts in the last 5000 ms: raise the " +
        "function's timeout, or lower lastStartMs",
    );
  });
});
