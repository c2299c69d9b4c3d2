import { type AnyJobDefinition, defineJob, type Job, type JobContext } from "@leasehold/job";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

describe("defineJob", () => {
  test("infers the payload from the schema of any library", () => {
    interface Greeting {
      name: string;
      times: number;
    }
    const zodJob = defineJob({
      type: "mail.greet",
      schema: z.object({ name: z.string(), times: z.number() }),
      handler: (job, context) => {
        expectTypeOf(job).toEqualTypeOf<Job<Greeting>>();
        expectTypeOf(context).toEqualTypeOf<JobContext>();
      },
    });
    defineJob({
      type: "mail.greet",
      schema: v.object({ name: v.string(), times: v.number() }),
      handler: (job) => expectTypeOf(job.payload).toEqualTypeOf<Greeting>(),
    });
    defineJob({
      type: "mail.greet",
      schema: type({ name: "string", times: "number" }),
      handler: (job) => expectTypeOf(job.payload).toEqualTypeOf<Greeting>(),
    });
    expectTypeOf(zodJob.type).toEqualTypeOf<"mail.greet">();
    expectTypeOf([zodJob]).toExtend<AnyJobDefinition[]>();
  });

  test("gives the handler what the schema makes, the producer what it takes", () => {
    const job = defineJob({
      type: "clock.set",
      schema: z.object({ at: z.string().transform((text) => new Date(text)) }),
      handler: ({ payload }) => expectTypeOf(payload).toEqualTypeOf<{ at: Date }>(),
    });

    type Input = NonNullable<(typeof job.schema)["~standard"]["types"]>["input"];
    expectTypeOf<Input>().toEqualTypeOf<{ at: string }>();
  });

  test("freezes the definition and keeps what was said", () => {
    const schema = z.string();
    const handler = () => undefined;

    const job = defineJob({ type: "mail.greet", schema, handler, timeoutMs: 5_000 });

    expect(job).toEqual({ type: "mail.greet", schema, handler, timeoutMs: 5_000 });
    expect(Object.isFrozen(job)).toBe(true);
  });
});
