import { defineJob, type JobHandler } from "@leasehold/job";
import middy from "@middy/core";
import errorLogger from "@middy/error-logger";
import eventNormalizer from "@middy/event-normalizer";
import ssm from "@middy/ssm";
import validator from "@middy/validator";
import { transpileSchema } from "@middy/validator/transpile";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jobEnvelope, middyHandler, type SqsLambdaHandler } from "../index.ts";
import { openSite, workJob } from "./lambda-site.ts";

const schema = z.object({ n: z.number() });

/** SSM as far as one parameter goes. */
class ParameterStore {
  static asked = 0;
  readonly config = { region: async () => "eu-central-1" };

  async send() {
    ParameterStore.asked += 1;
    return { Parameters: [{ Name: "/billing/key", Value: "k-1" }], InvalidParameters: [] };
  }
}

const parameters = () =>
  ssm({
    AwsClient: ParameterStore as never,
    fetchData: { billingKey: "/billing/key" },
    setToContext: true,
    disablePrefetch: true,
    cacheExpiry: 0,
  });

/** The event of an SQS queue, as validator wants it said. */
const batchSchema = transpileSchema({
  type: "object",
  required: ["Records"],
  properties: { Records: { type: "array", items: { type: "object" } } },
});

describe("the usual middlewares around lambdaHandler", () => {
  test("event-normalizer, validator, ssm and error-logger leave it its batch", async () => {
    const worked: number[] = [];
    const logged: unknown[] = [];
    const site = await openSite({
      handler: ({ payload: { n } }) => {
        worked.push(n);
        if (n === 2) throw new Error("no");
      },
    });
    const [, second] = await site.send(1, 2, 3);
    const around = middy(site.handler as never)
      .use(eventNormalizer())
      .use(validator({ eventSchema: batchSchema }))
      .use(parameters())
      .use(errorLogger({ logger: (error) => void logged.push(error) }));
    const event = await site.poller.take();
    const ended = site.poller.invoke(around as unknown as SqsLambdaHandler, event);
    await site.clock.advance(1_000);
    expect(await ended).toMatchObject({ failures: [second] });
    expect(worked.sort()).toEqual([1, 2, 3]);
    expect(logged).toEqual([]);
  });

  test("error-logger hears of what fails the whole batch", async () => {
    const logged: string[] = [];
    const site = await openSite();
    const around = middy(site.handler as never).use(
      errorLogger({ logger: ({ error }) => void logged.push((error as Error).name) }),
    );
    await expect(
      around({ Records: [{ eventSource: "aws:kinesis" }] }, {
        getRemainingTimeInMillis: () => 9_000,
      } as never),
    ).rejects.toThrow("every record must have the eventSource aws:sqs, got aws:kinesis");
    expect(logged).toEqual(["InvalidSqsEventError"]);
  });
});

describe("the usual middlewares around the handler of a job", () => {
  async function run(wrapped: Parameters<typeof middyHandler>[0], ...numbers: number[]) {
    const handler = middyHandler(wrapped) as JobHandler<{ n: number }>;
    const site = await openSite({ jobs: [defineJob({ type: "test.work", schema, handler })] });
    const ids = await site.send(...numbers);
    return { ids, site, ended: await site.invoke() };
  }

  test("event-normalizer finds the message, and jobEnvelope the job behind it", async () => {
    const bodies: unknown[] = [];
    const wrapped = middy()
      .use(eventNormalizer())
      .before(({ event }) => {
        bodies.push((event as { Records: { body: { job_id: string } }[] }).Records[0]?.body.job_id);
      })
      .use(jobEnvelope(schema))
      .handler(async ({ payload }) => void bodies.push(payload.n));
    const { ended } = await run(wrapped as never, 5);
    expect(ended).toMatchObject({ failures: [] });
    expect(bodies).toEqual(["job-5", 5]);
  });

  test("validator refuses a job by a schema of its own", async () => {
    const eventSchema = transpileSchema({
      type: "object",
      required: ["payload"],
      properties: {
        payload: {
          type: "object",
          required: ["n"],
          properties: { n: { type: "number", maximum: 3 } },
        },
      },
    });
    const wrapped = middy()
      .use(jobEnvelope(schema))
      .use(validator({ eventSchema }))
      .handler(async () => {});
    const { ids, ended } = await run(wrapped as never, 3, 4);
    expect(ended).toMatchObject({ failures: [ids[1]] });
  });

  test("ssm puts its parameters into the context of each job", async () => {
    const keys: unknown[] = [];
    const wrapped = middy()
      .use(parameters())
      .handler(async (_event, context) => {
        keys.push((context as unknown as { billingKey: string }).billingKey);
      });
    const { ended } = await run(wrapped, 1, 2);
    expect(ended).toMatchObject({ failures: [] });
    expect(keys).toEqual(["k-1", "k-1"]);
    expect(ParameterStore.asked).toBeGreaterThan(0);
  });

  test("error-logger logs the error that the job ends by", async () => {
    const logged: string[] = [];
    const wrapped = middy()
      .use(errorLogger({ logger: ({ error }) => void logged.push((error as Error).message) }))
      .handler(async () => {
        throw new Error("the provider is down");
      });
    const { ids, ended } = await run(wrapped, 1);
    expect(ended).toMatchObject({ failures: ids });
    expect(logged).toEqual(["the provider is down"]);
  });

  test("a plain handler beside a wrapped one gets none of it", async () => {
    const site = await openSite({
      jobs: [workJob((job) => expect(job.payload).toEqual({ n: 1 }))],
    });
    await site.send(1);
    expect(await site.invoke()).toMatchObject({ failures: [] });
  });
});
