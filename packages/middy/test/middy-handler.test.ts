import { type AnyJobDefinition, defineJob, type Job, PermanentJobError } from "@leasehold/job";
import middy from "@middy/core";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openWorld } from "../../../test/support/worker-world.ts";
import {
  type JobLambdaContext,
  jobEnvelope,
  type LambdaStyleHandler,
  middyHandler,
  type SqsEvent,
} from "../index.ts";
import { openSite } from "./lambda-site.ts";

const schema = z.object({ n: z.number() });

function jobOf(wrapped: LambdaStyleHandler, more: { readonly timeoutMs?: number } = {}) {
  return defineJob({ type: "test.work", schema, handler: middyHandler(wrapped), ...more });
}

/** The same job in a worker and in Lambda, and what each of them handed to it. */
async function inBothHomes(wrapped: LambdaStyleHandler) {
  const jobs = [jobOf(wrapped)];
  const world = await openWorld({ jobs });
  world.worker.start();
  await world.send(1);
  await world.clock.advance(3_000);
  const site = await openSite({ jobs });
  await site.send(1);
  const ended = await site.invoke();
  return { world, site, ended };
}

describe("middyHandler", () => {
  test("hands middy an SQS event of one message, in a worker as in Lambda", async () => {
    const events: SqsEvent[] = [];
    await inBothHomes(middy((event: SqsEvent) => void events.push(structuredClone(event))));
    const [worker, lambda] = events.map(({ Records }) => Records[0]);
    expect(events.map(({ Records }) => Records.length)).toEqual([1, 1]);
    expect(worker).toMatchObject({
      body: '{"v":1,"type":"test.work","job_id":"job-1","tenant_id":"acme","created_at":"2026-01-01T00:00:00.000Z","payload":{"n":1}}',
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:::jobs",
      receiptHandle: "",
      messageAttributes: { job_id: { dataType: "String", stringValue: "job-1" } },
      attributes: { ApproximateReceiveCount: "1", SentTimestamp: "1767225600000" },
    });
    expect(lambda).toMatchObject({
      body: worker?.body,
      md5OfBody: worker?.md5OfBody,
      receiptHandle: "",
      messageAttributes: worker?.messageAttributes,
      eventSourceARN: "arn:aws:sqs:eu-central-1:000000000000:jobs",
      awsRegion: "eu-central-1",
    });
  });

  test("counts the remaining time to the nearest deadline of the job", async () => {
    const left: number[] = [];
    const wrapped = middy((_: unknown, context: JobLambdaContext) => {
      left.push(context.getRemainingTimeInMillis());
    });
    const site = await openSite({ jobs: [jobOf(wrapped)] });
    await site.send(1);
    await site.invoke();
    const short = await openSite({ jobs: [jobOf(wrapped, { timeoutMs: 4_000 })] });
    await short.send(1);
    await short.invoke();
    expect(left).toEqual([27_000, 4_000]);
  });

  test("hands on what Lambda says of the invocation, and in a worker the job's own words", async () => {
    const said: unknown[] = [];
    await inBothHomes(
      middy((_: unknown, { functionName, awsRequestId }: JobLambdaContext) => {
        said.push([functionName, awsRequestId.replace(/^[0-9a-f-]{36}/, "message-id")]);
      }),
    );
    expect(said).toEqual([
      ["test.work", "message-id#1"],
      ["jobs", "request-1"],
    ]);
  });

  test("aborts the same signal as for a plain handler", async () => {
    const causes: unknown[] = [];
    const wrapped = middy({ timeoutEarlyInMillis: 0 }).handler(async (_: unknown, context) => {
      const { signal } = (context as unknown as JobLambdaContext).job;
      await site.clock.sleep(60_000, signal);
      causes.push((signal.reason as Error).message);
      throw signal.reason;
    });
    const site = await openSite({ jobs: [jobOf(wrapped, { timeoutMs: 5_000 })] });
    const [id] = await site.send(1);
    expect(await site.invoke(10_000)).toMatchObject({ failures: [id] });
    expect(causes).toEqual(["the job must stop: job-timeout"]);
  });

  test("gives the signal as an option, and does not take a handler that never looks for one that obeys", async () => {
    const signals: boolean[] = [];
    const site = await openSite({
      jobs: [jobOf((_event, _context, { signal }) => void signals.push(signal.aborted))],
    });
    await site.send(1);
    await site.invoke();
    expect(signals).toEqual([false]);
  });

  test("ends the job by what the wrapped function throws", async () => {
    const wrapped = middy(() => {
      throw new PermanentJobError("the customer is unknown");
    });
    const { world, site, ended } = await inBothHomes(wrapped);
    expect(world.heard("job.ended").map(({ outcome }) => outcome)).toEqual(["dead-lettered"]);
    expect(site.heard("job.ended").map(({ outcome }) => outcome)).toEqual(["dead-lettered"]);
    expect(ended).toMatchObject({ failures: [] });
  });

  test("ends the job by what a middleware made of an error", async () => {
    const wrapped = middy<unknown, string>(() => {
      throw new Error("no");
    }).onError((request) => {
      request.response = "all is well";
    });
    const { world, ended } = await inBothHomes(wrapped);
    expect(world.heard("job.ended").map(({ outcome }) => outcome)).toEqual(["succeeded"]);
    expect(ended).toMatchObject({ failures: [] });
  });

  test("waits for the job's signal when middy gives up some milliseconds before it", async () => {
    const gaveUp = Promise.withResolvers<void>();
    // Middy's timer is the machine's own.
    const wrapped = middy({ timeoutEarlyInMillis: 990 })
      .onError(() => gaveUp.resolve())
      .handler(() => new Promise(() => {}));
    const site = await openSite({ jobs: [jobOf(wrapped, { timeoutMs: 1_000 })] });
    const [id] = await site.send(1);
    const ended = site.poller.invoke(site.handler, await site.poller.take());
    await gaveUp.promise;
    await site.clock.settle();
    expect(site.heard("job.ended")).toEqual([]);
    await site.clock.advance(1_100);
    expect(await ended).toMatchObject({ failures: [id] });
    expect(site.heard("job.ended")).toMatchObject([{ outcome: "failed", durationMs: 1_000 }]);
  });

  test("names what it was given instead of a function", () => {
    expect(() => middyHandler({} as never)).toThrow(
      "a middy handler must be a function, got object: give it what middy(...) returned",
    );
  });
});

describe("jobEnvelope", () => {
  test("makes the job the handler's event, with the type of its payload", async () => {
    const jobs: unknown[] = [];
    const wrapped = middy()
      .use(jobEnvelope(schema))
      .handler(async (job) => {
        expectTypeOf(job.payload).toEqualTypeOf<{ n: number }>();
        jobs.push(job);
      });
    await inBothHomes(wrapped);
    const job = {
      ...{ tenantId: "acme", jobId: "job-1", jobType: "test.work" },
      ...{ payload: { n: 1 }, createdAtMs: 1_767_225_600_000 },
    };
    expect(jobs).toEqual([job, job]);
  });

  test("knows the payload by the schema of any library, and lets nothing else come to a handler", async () => {
    const worked: number[] = [];
    const work = async ({ payload }: Job<{ n: number }>) => void worked.push(payload.n);
    const byZod = z.object({ n: z.number() });
    const byValibot = v.object({ n: v.number() });
    const byArktype = type({ n: "number" });
    const handlers = [
      [byZod, middy().use(jobEnvelope(byZod)).handler(work)],
      [byValibot, middy().use(jobEnvelope(byValibot)).handler(work)],
      [byArktype, middy().use(jobEnvelope(byArktype)).handler(work)],
    ] as const;
    for (const [schema, wrapped] of handlers) {
      const job = { type: "test.work", schema, handler: middyHandler(wrapped) };
      const site = await openSite({ jobs: [job as AnyJobDefinition] });
      await site.send(1, "two" as never);
      expect(await site.invoke()).toMatchObject({ failures: [] });
      expect(site.heard("job.malformed")).toMatchObject([{ reason: "invalid-payload" }]);
    }
    expect(worked).toEqual([1, 1, 1]);
  });

  test("hands on what the schema made of the payload, and does not ask it twice", async () => {
    let asked = 0;
    const counting = z.object({ n: z.number() }).transform(({ n }) => {
      asked += 1;
      return { twice: 2 * n };
    });
    const payloads: unknown[] = [];
    const job = defineJob({
      type: "test.work",
      schema: counting,
      handler: middyHandler(
        middy()
          .use(jobEnvelope(counting))
          .handler(async ({ payload }) => void payloads.push(payload)),
      ),
    });
    const site = await openSite({ jobs: [job] });
    await site.send(4);
    await site.invoke();
    expect([payloads, asked]).toEqual([[{ twice: 8 }], 1]);
  });

  describe("in a function that Lambda calls by itself", () => {
    const payloads: unknown[] = [];
    const plain = middy()
      .use(jobEnvelope(schema))
      .handler(async ({ payload, tenantId }) => void payloads.push([tenantId, payload.n]));
    const context = { getRemainingTimeInMillis: () => 30_000 } as never;

    test("reads and checks the one message", async () => {
      const site = await openSite();
      await site.send(7);
      await plain((await site.poller.take()) as never, context);
      expect(payloads).toEqual([["acme", 7]]);
    });

    test.each([
      ["no job", "not json", "not-json: the body is not JSON (8 characters)"],
      [
        "another payload",
        '{"v":1,"type":"test.work","job_id":"1","tenant_id":"acme","created_at":"2026-01-01T00:00:00.000Z","payload":{"n":"secret"}}',
        "invalid-payload: payload.n: invalid_type, expected number",
      ],
    ])("refuses %s without showing it", async (_, body, problem) => {
      const site = await openSite();
      await site.queue.send({ body });
      const event = await site.poller.take();
      await expect(plain(event as never, context)).rejects.toThrow(problem);
    });

    test("refuses a batch, and says what runs one", async () => {
      const site = await openSite();
      await site.send(1, 2);
      const event = await site.poller.take();
      await expect(plain(event as never, context)).rejects.toThrow(
        "jobEnvelope reads events of one message, got 2: set the batch size to 1, or let " +
          "lambdaHandler run the batch",
      );
    });
  });
});
