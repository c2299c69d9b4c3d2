import {
  defineJob,
  type JobHandler,
  NotSentError,
  park,
  RejectedError,
  rerun,
} from "@leasehold/job";
import middy from "@middy/core";
import eventNormalizer from "@middy/event-normalizer";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jobOnce, type LambdaStyleHandler, middyHandler, type OnceContext } from "../index.ts";
import { type LambdaSite, openSite } from "./lambda-site.ts";

const schema = z.object({ n: z.number() });
const guard = { timeoutMs: 10_000, recover: park() };

/** A guarded function; its job fails after it as often as told, and is delivered again while it is open. */
async function setup(wrapped: LambdaStyleHandler, failsAfter = 0) {
  const answers: unknown[] = [];
  const guarded = middyHandler(wrapped);
  const handler: JobHandler<unknown> = async (job, context) => {
    answers.push(await guarded(job, context));
    if (context.attempt <= failsAfter) throw new Error("after the effect");
  };
  const job = defineJob({ type: "test.work", schema, handler });
  const site = await openSite({ jobs: [job], hasLedger: true });
  await site.send(1);
  return { site, answers };
}

const outcomes = (site: LambdaSite) => site.heard("job.ended").map(({ outcome }) => outcome);

describe("jobOnce", () => {
  test.each([
    ["a text", "receipt-1"],
    ["nothing", undefined],
    ["null", null],
    ["false", false],
    ["an object", { receipt: { id: 1 } }],
  ])(
    "runs a handler that returns %s once, and answers a repeated run with it",
    async (_, result) => {
      let runs = 0;
      const wrapped = middy()
        .use(jobOnce(guard))
        .handler(async () => {
          runs += 1;
          return result;
        });
      const { site, answers } = await setup(wrapped, 1);
      await site.invoke(10_000);
      expect(await site.invoke()).toMatchObject({ failures: [] });
      expect([runs, answers]).toEqual([1, [result, result]]);
      expect(outcomes(site)).toEqual(["failed", "succeeded"]);
    },
  );

  test("keeps a handler that returns nothing from running again (powertools-lambda-typescript 2987; middy 1236)", async () => {
    let runs = 0;
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {
        runs += 1;
      });
    const { site } = await setup(wrapped, 1);
    await site.invoke(10_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(runs).toBe(1);
  });

  test("hands the handler the key for its provider, the same in each attempt", async () => {
    const keys: string[] = [];
    const wrapped = middy()
      .use(jobOnce({ timeoutMs: 10_000, recover: rerun() }))
      .handler(async (_event, context) => {
        keys.push((context as unknown as OnceContext).once.key);
        if (keys.length === 1) throw new Error("no answer");
      });
    const { site } = await setup(wrapped);
    await site.invoke(300_000);
    await site.invoke();
    expect(outcomes(site)).toEqual(["failed", "succeeded"]);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test("does not run a handler again whose outcome is unknown and that is to be parked", async () => {
    let runs = 0;
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {
        runs += 1;
        throw new Error("connection reset");
      });
    const { site } = await setup(wrapped);
    await site.invoke(300_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(runs).toBe(1);
    expect(site.heard("job.stopped")).toMatchObject([{ why: "parked" }]);
  });

  test("runs a handler again that has sent nothing", async () => {
    let runs = 0;
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {
        runs += 1;
        if (runs === 1) throw new NotSentError("no connection");
      });
    const { site } = await setup(wrapped);
    await site.invoke(20_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(runs).toBe(2);
  });

  test("keeps a refusal, and throws it again in a repeated run", async () => {
    let runs = 0;
    const reasons: unknown[] = [];
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {
        runs += 1;
        throw new RejectedError("card_declined");
      });
    const { site } = await setup(async (event, context) => {
      try {
        await wrapped(event, context);
      } catch (error) {
        reasons.push((error as RejectedError).reason);
        throw error;
      }
    });
    await site.invoke(20_000);
    await site.invoke();
    expect([runs, reasons]).toEqual([1, ["card_declined", "card_declined"]]);
  });

  test("lets only one of two deliveries at a time run, and the other one writes nothing (powertools-lambda-typescript 5675)", async () => {
    let runs = 0;
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {
        runs += 1;
        await site.clock.sleep(5_000);
        return "once";
      });
    const { site } = await setup(wrapped);
    // The producer has sent the same job twice: two messages, one identity.
    await site.send(1);
    const one = await site.poller.take(1);
    const other = await site.poller.take(1);
    const ends = [site.poller.invoke(site.handler, one)];
    await site.clock.advance(1_000);
    ends.push(site.poller.invoke(site.handler, other));
    await site.clock.advance(1_000);
    const record = await site.store.read(site.heard("job.started")[0]?.job as never);
    expect(record).toMatchObject({ state: "open", effects: { handler: { state: "started" } } });
    await site.clock.advance(10_000);
    const [first, second] = await Promise.all(ends);
    expect(runs).toBe(1);
    expect(first).toMatchObject({ failures: [] });
    expect(second).toMatchObject({ failures: [other.Records[0]?.messageId] });
    expect(site.heard("job.stopped")).toMatchObject([{ why: "busy" }]);
    expect(await site.store.read(site.heard("job.started")[0]?.job as never)).toMatchObject({
      state: "done",
      effects: { handler: { state: "done", result: { json: '{"result":"once"}' } } },
    });
  });

  test("ends with the request also when a later middleware answers before the handler", async () => {
    const wrapped = middy()
      .use(jobOnce(guard))
      .before(() => "early")
      .handler(async () => "late");
    const { site, answers } = await setup(wrapped, 1);
    await site.invoke(10_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect(answers).toEqual(["early", "early"]);
  });

  test("stays out of what failed before it (powertools-lambda-typescript 4634)", async () => {
    let runs = 0;
    const errors: string[] = [];
    const wrapped = middy()
      .before(() => {
        runs += 1;
        if (runs === 1) throw new Error("no parameter");
      })
      .use(jobOnce(guard))
      .onError(({ error }) => void errors.push((error as Error).message))
      .handler(async () => {});
    const { site } = await setup(wrapped);
    await site.invoke(10_000);
    expect(await site.invoke()).toMatchObject({ failures: [] });
    expect([errors, outcomes(site)]).toEqual([["no parameter"], ["failed", "succeeded"]]);
  });

  test("knows its job by its identity, whatever later middlewares make of the event (powertools-lambda-typescript 3424)", async () => {
    let runs = 0;
    const wrapped = middy()
      .use(jobOnce(guard))
      .use(eventNormalizer())
      .handler(async () => {
        runs += 1;
        throw new RejectedError("card_declined");
      });
    const { site } = await setup(wrapped);
    await site.invoke(10_000);
    await site.invoke();
    expect(runs).toBe(1);
    const errors = site.heard("job.ended").map(({ error }) => error?.name);
    expect(errors).toEqual(["RejectedError", "RejectedError"]);
    const { job } = site.heard("job.started")[0] ?? {};
    expect(await site.store.read(job as never)).toMatchObject({
      effects: { handler: { state: "done", outcome: "rejected" } },
    });
  });

  test("says what it needs where there is no job", async () => {
    const wrapped = middy()
      .use(jobOnce(guard))
      .handler(async () => {});
    await expect(wrapped({}, {} as never)).rejects.toThrow(
      "jobOnce works for the handler of a job only: make it one with middyHandler, and run it by a " +
        "worker or by lambdaHandler",
    );
  });
});
