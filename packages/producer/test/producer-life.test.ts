import { ManualClock } from "@leasehold/clock/manual";
import { createProducer, type JobToSend, type ProducerOptions } from "@leasehold/producer";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, fail, hang, startScriptedSqs, take } from "./scripted-sqs.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function setup(options: ProducerOptions = {}, answers: readonly Answer[] = [take()]) {
  const sqs = await startScriptedSqs(answers);
  closing.push(sqs.close);
  const clock = new ManualClock();
  const random = () => 1;
  const producer = createProducer({ ...sqs, clock, options, random });
  const send = (jobId: string, changes: Partial<JobToSend> = {}) =>
    producer.send("a.b", { tenantId: "acme", jobId, payload: null, ...changes });
  return { sqs, clock, producer, send };
}

/** Holds the first request back until told; all further ones are taken. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answers: Answer[] = [
    (entries, response) => void promise.then(() => take()(entries, response)),
    take(),
  ];
  return { answers, letGo: resolve };
}

const kinds = (results: readonly { readonly kind: string }[]) => results.map(({ kind }) => kind);

describe("buffered sending", () => {
  test("gathers what services send one at a time, and gives each its own result", async () => {
    const { sqs, producer } = await setup({ lingerMs: 50 });
    const ids = Array.from({ length: 20 }, (_, n) => `j${n}`);

    const results = await Promise.all(
      ids.map((jobId) => producer.send("a.b", { tenantId: "acme", jobId, payload: null })),
    );

    expect(results).toEqual(ids.map((jobId) => ({ kind: "sent", jobId, messageId: `m-${jobId}` })));
    expect(sqs.calls().map((call) => call.length)).toEqual([10, 10]);
  });

  test("lets a lonely job go when it has lingered", async () => {
    const { sqs, clock, send } = await setup({ lingerMs: 50 });
    const result = send("a");
    await clock.advance(49);
    expect(sqs.calls()).toEqual([]);

    await clock.advance(1);

    expect(await result).toMatchObject({ kind: "sent" });
  });

  test("keeps the order of the calls, also when the first one's schema takes its time", async () => {
    const { sqs, producer } = await setup({ fifo: true });
    const slowFirst = z.string().refine(async (text) => {
      if (text === "first") for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      return true;
    });
    const kind = { type: "a.b", schema: slowFirst };
    const job = { tenantId: "acme" };

    await Promise.all(
      ["first", "second"].map((text) =>
        producer.send(kind, { ...job, jobId: text, payload: text }),
      ),
    );

    expect(sqs.calls()).toEqual([["first"], ["second"]]);
  });

  test("sends again alone what failed, and tells each caller the truth", async () => {
    const { sqs, clock, send } = await setup({ backoffBaseMs: 100 }, [
      take({ b: "InternalError" }),
      take(),
    ]);
    const results = Promise.all([send("a"), send("b"), send("c")]);
    await sqs.requests(1);
    await expect.poll(() => clock.nextDueAtMs).toBe(100);

    await clock.advance(100);

    expect(kinds(await results)).toEqual(["sent", "sent", "sent"]);
    expect(sqs.calls()).toEqual([["a", "b", "c"], ["b"]]);
  });
});

describe("a full buffer", () => {
  test("lets further jobs wait for their turn, and takes every one in the end", async () => {
    const { answers, letGo } = held();
    const { sqs, clock, send } = await setup({ maxBuffered: 3, parallelCalls: 1 }, answers);
    const results = Promise.all(["a", "b", "c", "d", "e"].map((jobId) => send(jobId)));
    await sqs.requests(1);
    await clock.settle();
    expect(sqs.calls()).toEqual([["a", "b", "c"]]);

    letGo();

    expect(kinds(await results)).toEqual(Array(5).fill("sent"));
    expect(sqs.calls()).toEqual([
      ["a", "b", "c"],
      ["d", "e"],
    ]);
  });

  test("is full by bytes, too", async () => {
    const { answers, letGo } = held();
    const { sqs, clock, send } = await setup({ maxBufferedBytes: 1_000 }, answers);
    const large = { payload: "x".repeat(1_000) };
    const results = Promise.all([send("a", large), send("b", large)]);
    await sqs.requests(1);
    await clock.settle();
    expect(sqs.calls()).toEqual([["a"]]);

    letGo();

    expect(kinds(await results)).toEqual(["sent", "sent"]);
    expect(sqs.calls()).toEqual([["a"], ["b"]]);
  });

  test("does not linger for company that cannot come in", async () => {
    const { sqs, send } = await setup({ maxBuffered: 2, lingerMs: 60_000, parallelCalls: 1 });

    const [first, second] = [send("a"), send("b")];
    void send("c");

    expect(kinds(await Promise.all([first, second]))).toEqual(["sent", "sent"]);
    expect(sqs.calls()).toEqual([["a", "b"]]);
  });

  test("takes more at once than it has room for", async () => {
    const { sqs, producer } = await setup({ maxBuffered: 7, lingerMs: 60_000 });
    const jobs = Array.from({ length: 57 }, (_, n) => ({
      ...{ type: "a.b", tenantId: "acme", jobId: `j${n}`, payload: null },
    }));

    const results = await producer.sendMany(jobs);

    expect(results.map((result) => result.kind === "sent" && result.jobId)).toEqual(
      jobs.map(({ jobId }) => jobId),
    );
    expect(sqs.calls().flat()).toHaveLength(57);
  });

  test("refuses at once when told so, and takes jobs again when there is room", async () => {
    const { answers, letGo } = held();
    const { sqs, send } = await setup({ maxBuffered: 2, whenFull: "refuse" }, answers);
    const accepted = [send("a"), send("b")];

    expect(await send("c")).toMatchObject({
      kind: "refused",
      error: { code: "JOB_NOT_ACCEPTED", reason: "full" },
    });
    letGo();
    expect(kinds(await Promise.all(accepted))).toEqual(["sent", "sent"]);
    expect(await send("c")).toMatchObject({ kind: "sent" });
    expect(sqs.calls()).toEqual([["a", "b"], ["c"]]);
  });

  test("says when it is ready for one more", async () => {
    const { answers, letGo } = held();
    const { sqs, clock, producer, send } = await setup({ maxBuffered: 2 }, answers);
    await producer.ready();
    void send("a");
    void send("b");
    let isReady = false;
    const ready = producer.ready().then(() => {
      isReady = true;
    });
    await sqs.requests(1);
    await clock.settle();
    expect(isReady).toBe(false);

    letGo();
    await ready;
  });
});

describe("flush", () => {
  test("sends at once what lingers, and resolves when it has its results", async () => {
    const { sqs, producer, send } = await setup({ lingerMs: 60_000 });
    const results = [send("a"), send("b")];

    await producer.flush();

    expect(sqs.calls()).toEqual([["a", "b"]]);
    expect(kinds(await Promise.all(results))).toEqual(["sent", "sent"]);
  });

  test("resolves when there is nothing", async () => {
    const { producer } = await setup();

    await producer.flush();
  });
});

describe("close", () => {
  test("sends what it has, and says that nothing is left", async () => {
    const { sqs, clock, producer, send } = await setup({ lingerMs: 60_000 });
    const results = [send("a"), send("b")];

    expect(await producer.close()).toEqual({ unsent: [] });

    expect(kinds(await Promise.all(results))).toEqual(["sent", "sent"]);
    expect(sqs.calls()).toEqual([["a", "b"]]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("takes no more jobs, one or many", async () => {
    const { sqs, producer, send } = await setup();
    const closed = producer.close();

    expect(await send("a")).toMatchObject({
      kind: "refused",
      error: { code: "JOB_NOT_ACCEPTED", reason: "closed" },
    });
    expect(await producer.sendMany([{ tenantId: "acme", type: "a.b", payload: 1 }])).toMatchObject([
      { kind: "refused", error: { reason: "closed" } },
    ]);
    await closed;
    await producer.ready();
    expect(await producer.close()).toEqual({ unsent: [] });
    expect(sqs.calls()).toEqual([]);
  });

  test("gives up at its deadline, and says of each job whether it may be there", async () => {
    const { sqs, clock, producer, send } = await setup({ parallelCalls: 1, maxBuffered: 12 }, [
      hang,
    ]);
    const ids = Array.from({ length: 14 }, (_, n) => `j${n}`);
    const results = ids.map((jobId) => send(jobId));
    await sqs.requests(1);

    const closed = producer.close({ withinMs: 3_000 });
    await clock.advance(3_000);
    const { unsent } = await closed;

    expect(unsent.map(({ jobId, maybeSent }) => [jobId, maybeSent])).toEqual(
      ids.map((jobId, index) => [jobId, index < 10]),
    );
    expect(unsent[0]).toMatchObject({
      tenantId: "acme",
      jobType: "a.b",
      error: { code: "SEND_FAILED", faultCode: "ProducerClosed", attempts: 1 },
    });
    expect(unsent[13]).toMatchObject({ error: { faultCode: "ProducerClosed", attempts: 0 } });
    expect(await Promise.all(results)).toMatchObject(
      ids.map((jobId, index) => ({ kind: "failed", jobId, maybeSent: index < 10 })),
    );
    expect(sqs.calls()).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  test("starts no further attempt after its deadline", async () => {
    const { sqs, clock, producer, send } = await setup({ backoffBaseMs: 5_000 }, [
      fail(400, "RequestThrottled"),
    ]);
    const result = send("a");
    await sqs.requests(1);
    await expect.poll(() => clock.nextDueAtMs).toBe(5_000);

    const closed = producer.close({ withinMs: 1_000 });
    await clock.advance(1_000);

    expect((await closed).unsent).toMatchObject([
      { jobId: "a", maybeSent: false, error: { faultCode: "RequestThrottled", attempts: 1 } },
    ]);
    expect(await result).toMatchObject({ kind: "failed" });
    await clock.advance(60_000);
    expect(sqs.calls()).toHaveLength(1);
  });

  test("does not hang on a schema that never answers", async () => {
    const { clock, producer, send } = await setup();
    const kind = { type: "a.b", schema: z.string().refine(() => new Promise<boolean>(() => {})) };
    const stuck = producer.send(kind, { tenantId: "acme", jobId: "stuck", payload: "x" });
    const behind = send("behind");

    const closed = producer.close({ withinMs: 100 });
    await clock.advance(100);

    expect((await closed).unsent.map(({ jobId }) => jobId)).toEqual(["stuck", "behind"]);
    expect(kinds(await Promise.all([stuck, behind]))).toEqual(["failed", "failed"]);
  });

  test("counts what SQS refused meanwhile among the unsent", async () => {
    const { producer, send } = await setup({ lingerMs: 60_000 }, [
      take({ b: "InvalidMessageContents" }, true),
    ]);
    void send("a");
    void send("b");

    expect((await producer.close()).unsent).toMatchObject([
      { jobId: "b", maybeSent: false, error: { faultCode: "InvalidMessageContents" } },
    ]);
  });

  test("refuses a deadline that is none", async () => {
    const { producer } = await setup();

    await expect(producer.close({ withinMs: Number.NaN })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
    });
  });
});
