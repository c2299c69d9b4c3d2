import { defineJob } from "@leasehold/job";
import { createProducer, type JobsProducer } from "@leasehold/producer";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openQueue } from "./queue-site.ts";

const greet = defineJob({
  type: "mail.greet",
  schema: z.object({ name: z.string(), times: z.coerce.number().default(1) }),
  handler: () => undefined,
});
/** What a service knows that does not have the handler. */
const bill = { type: "invoice.bill", schema: z.object({ cents: z.number() }) } as const;

async function setup() {
  const site = await openQueue();
  const producer = createProducer({ ...site, jobs: [greet, bill] });
  return { ...site, producer };
}

const acme = { tenantId: "acme", jobId: "j" };

describe("a producer that knows its jobs", () => {
  test("checks a payload also when only its type is named", async () => {
    const { producer, receive } = await setup();

    expect(await producer.send("mail.greet", { ...acme, payload: { name: "Ada" } })).toMatchObject({
      kind: "sent",
    });
    expect(
      await producer.send("mail.greet", { ...acme, payload: { name: 7 } as never }),
    ).toMatchObject({ kind: "refused", error: { code: "INVALID_PAYLOAD" } });
    expect(await receive()).toHaveLength(1);
  });

  test("refuses a type that it was not given, also of a child job", async () => {
    const { producer, receive } = await setup();
    const unknown = "mail.great" as "mail.greet";

    expect(await producer.send(unknown, { ...acme, payload: { name: "Ada" } })).toMatchObject({
      kind: "refused",
      error: {
        code: "UNSENDABLE_JOB",
        message:
          'job type "mail.great" must be one that this producer was given, known are mail.greet, ' +
          "invoice.bill: add its definition to jobs",
      },
    });
    await expect(
      producer.sendJob({ ...acme, type: "mail.great", payload: 1, delayMs: 0 }),
    ).rejects.toMatchObject({ code: "UNSENDABLE_JOB" });
    expect(await receive()).toEqual([]);
  });

  test("sends a mixture, each by its own schema", async () => {
    const { producer } = await setup();

    const results = await producer.sendMany([
      { ...acme, type: "mail.greet", payload: { name: "Ada" } },
      { ...acme, type: bill, payload: { cents: 5 } },
      { ...acme, type: "invoice.bill", payload: { cents: "5" as never } },
    ]);

    expect(results.map(({ kind }) => kind)).toEqual(["sent", "sent", "refused"]);
  });

  test("is not made of two kinds of one type", async () => {
    const site = await openQueue();

    expect(() => createProducer({ ...site, jobs: [bill, greet, bill] })).toThrow(
      "jobs must have each type once, got more of invoice.bill",
    );
  });

  test("knows the payloads of every schema library, by type and when it sends", async () => {
    const site = await openQueue();
    const byZod = { type: "by.zod", schema: z.object({ n: z.number() }) } as const;
    const byValibot = { type: "by.valibot", schema: v.object({ n: v.number() }) } as const;
    const byArktype = { type: "by.arktype", schema: type({ n: "number" }) } as const;
    const producer = createProducer({ ...site, jobs: [byZod, byValibot, byArktype] });
    // Never called: the compiler is the judge.
    const judged = () => [
      // @ts-expect-error zod wants a number
      producer.send("by.zod", { ...acme, payload: { n: "1" } }),
      // @ts-expect-error valibot wants a number
      producer.send("by.valibot", { ...acme, payload: { n: "1" } }),
      // @ts-expect-error arktype wants a number
      producer.send("by.arktype", { ...acme, payload: { n: "1" } }),
    ];
    expect(judged).toBeTypeOf("function");

    const results = await producer.sendMany([
      { ...acme, type: "by.zod", payload: { n: 1 } },
      { ...acme, type: "by.valibot", payload: { n: 1 } },
      { ...acme, type: "by.arktype", payload: { n: 1 } },
      { ...acme, type: "by.zod", payload: { n: "1" as never } },
      { ...acme, type: "by.valibot", payload: { n: "1" as never } },
      { ...acme, type: "by.arktype", payload: { n: "1" as never } },
    ]);

    expect(results.map(({ kind }) => kind)).toEqual([
      ...["sent", "sent", "sent"],
      ...["refused", "refused", "refused"],
    ]);
  });

  test("has types that take known jobs with their payloads, and nothing else", async () => {
    const { producer } = await setup();
    expectTypeOf(producer).toEqualTypeOf<JobsProducer<readonly [typeof greet, typeof bill]>>();
    // Never called: the compiler is the judge.
    const judged = () => [
      producer.send("mail.greet", { ...acme, payload: { name: "Ada" } }),
      producer.send(greet, { ...acme, payload: { name: "Ada", times: "3" } }),
      producer.send(bill, { ...acme, payload: { cents: 5 } }),
      // @ts-expect-error no such type
      producer.send("mail.great", { ...acme, payload: { name: "Ada" } }),
      // @ts-expect-error the payload of another type
      producer.send("mail.greet", { ...acme, payload: { cents: 5 } }),
      // @ts-expect-error the payload of another definition
      producer.send(bill, { ...acme, payload: { name: "Ada" } }),
      // @ts-expect-error a definition that this producer was not given
      producer.send({ type: "a.b", schema: bill.schema }, { ...acme, payload: { cents: 5 } }),
      // @ts-expect-error no tenant
      producer.send("mail.greet", { payload: { name: "Ada" } }),
      // @ts-expect-error a field that no job has
      producer.send("mail.greet", { ...acme, payload: { name: "Ada" }, delaySeconds: 3 }),
      producer.sendMany([
        { ...acme, type: "mail.greet", payload: { name: "Ada" } },
        { ...acme, type: bill, payload: { cents: 5 } },
      ]),
      // @ts-expect-error the payload of another type
      producer.sendMany([{ ...acme, type: "invoice.bill", payload: { name: "Ada" } }]),
      // @ts-expect-error no such type
      producer.sendMany([{ ...acme, type: "mail.great", payload: { name: "Ada" } }]),
    ];
    expect(judged).toBeTypeOf("function");
  });
});
