import { ManualClock } from "@leasehold/clock/manual";
import { defineJob } from "@leasehold/job";
import {
  createProducer,
  type JobKind,
  type JobToSend,
  type ProducerOptions,
} from "@leasehold/producer";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Answer, fail, startScriptedSqs, take } from "./scripted-sqs.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const render = defineJob({
  type: "receipt.render",
  schema: z.object({ invoice: z.string(), copies: z.coerce.number().default(1) }),
  handler: () => undefined,
});

async function setup(
  answers: readonly Answer[] = [take()],
  options: ProducerOptions = {},
  suffix = "",
) {
  const sqs = await startScriptedSqs(answers);
  closing.push(sqs.close);
  const clock = new ManualClock();
  const queueUrl = `${sqs.queueUrl}${suffix}`;
  const onEvent = () => undefined;
  const producer = createProducer({ client: sqs.client, queueUrl, clock, options, onEvent });
  const bodies = () => sqs.seen.flat().map(({ MessageBody }) => JSON.parse(MessageBody));
  return { sqs, clock, producer, bodies };
}

describe("send", () => {
  test("sends a job and says under which message", async () => {
    const { producer, bodies } = await setup();

    const result = await producer.send(render, {
      tenantId: "acme",
      jobId: "inv-7",
      payload: { invoice: "inv-7" },
    });

    expect(result).toEqual({ kind: "sent", messageId: "m-inv-7", jobId: "inv-7" });
    expect(bodies()).toEqual([
      {
        v: 1,
        type: "receipt.render",
        job_id: "inv-7",
        tenant_id: "acme",
        created_at: "2026-01-01T00:00:00.000Z",
        payload: { invoice: "inv-7" },
      },
    ]);
  });

  test("makes an id for a job that has none", async () => {
    const { producer } = await setup();

    const result = await producer.send("a.b", { tenantId: "acme", payload: null });

    expect(result).toMatchObject({
      kind: "sent",
      jobId: expect.stringMatching(/^019b76da-a800-7[0-9a-f]{3}-/),
    });
  });

  test("sends the payload as it was given, not as the schema made it", async () => {
    const { producer, bodies } = await setup();

    await producer.send(render, { tenantId: "acme", payload: { invoice: "a", copies: "3" } });

    expect(bodies()).toMatchObject([{ payload: { invoice: "a", copies: "3" } }]);
  });

  const bad: [string, string | JobKind, JobToSend, string][] = [
    [
      "a payload that its schema refuses",
      render,
      job({ payload: { invoice: 7 } }),
      "INVALID_PAYLOAD",
    ],
    ["a payload that JSON cannot carry", "a.b", job({ payload: undefined }), "INVALID_PAYLOAD"],
    ["a tenant that is none", "a.b", job({ tenantId: "" }), "INVALID_IDENTITY"],
    ["a job id that is none", "a.b", job({ jobId: "a\n" }), "INVALID_IDENTITY"],
    ["a type that is none", "A B", job({}), "INVALID_IDENTITY"],
    ["a delay beyond SQS's", "a.b", job({ delayMs: 900_001 }), "UNSENDABLE_JOB"],
    ["an order where there is none", "a.b", job({ orderingKey: "a" }), "UNSENDABLE_JOB"],
    ["more than SQS takes", "a.b", job({ payload: "x".repeat(1_048_576) }), "JOB_TOO_LARGE"],
  ];
  test.each(bad)("refuses %s, and sends nothing", async (_name, kind, given, code) => {
    const { sqs, producer } = await setup();

    expect(await producer.send(kind, given)).toMatchObject({ kind: "refused", error: { code } });
    expect(sqs.calls()).toEqual([]);
  });

  test("hands the trace context on, and leaves an empty one out", async () => {
    const { sqs, producer } = await setup();

    await producer.send("a.b", job({ traceparent: "00-1-2-01", tracestate: "" }));

    const [message] = sqs.seen.flat() as { MessageAttributes?: object }[];
    expect(Object.keys(message?.MessageAttributes ?? {})).toEqual([
      "tenant_id",
      "job_id",
      "job_type",
      "traceparent",
    ]);
  });

  test("asks for the payload that the schema takes in", async () => {
    const { producer } = await setup();

    // @ts-expect-error the schema wants a text
    await producer.send(render, { tenantId: "acme", payload: { invoice: 7 } });
  });
});

function job(changes: Partial<JobToSend>): JobToSend {
  return { tenantId: "acme", jobId: "j", payload: null, ...changes };
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...job({ jobId: `j${index}` }), type: "a.b" }));

describe("sendMany", () => {
  test("sends nothing when there is nothing", async () => {
    const { sqs, producer } = await setup();

    expect(await producer.sendMany([])).toEqual([]);
    expect(sqs.calls()).toEqual([]);
  });

  test("sends ten in a call and answers in the order of the jobs", async () => {
    const { sqs, producer } = await setup();

    const results = await producer.sendMany(numbered(57));

    expect(results.map((result) => result.kind === "sent" && result.jobId)).toEqual(
      numbered(57).map(({ jobId }) => jobId),
    );
    expect(
      sqs
        .calls()
        .map((batch) => batch.length)
        .sort(),
    ).toEqual([10, 10, 10, 10, 10, 7]);
  });

  test("lets a refused job take nobody along", async () => {
    const { sqs, producer } = await setup([take({ j3: "InvalidMessageContents" }, true)]);
    const jobs = numbered(5).map((each, index) => (index === 1 ? { ...each, tenantId: "" } : each));

    expect(await producer.sendMany(jobs)).toMatchObject([
      { kind: "sent", messageId: "m-j0" },
      { kind: "refused", error: { code: "INVALID_IDENTITY" } },
      { kind: "sent", messageId: "m-j2" },
      { kind: "refused", error: { code: "SEND_FAILED" } },
      { kind: "sent", messageId: "m-j4" },
    ]);
    expect(sqs.calls()).toEqual([["j0", "j2", "j3", "j4"]]);
  });

  test("names the id of a job that failed, so that it can be sent again as the same job", async () => {
    const { producer } = await setup([fail(503, "ServiceUnavailable")], { maxAttempts: 1 });

    const [result] = await producer.sendMany([{ tenantId: "acme", payload: 1, type: "a.b" }]);

    expect(result).toMatchObject({
      kind: "failed",
      maybeSent: true,
      jobId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("keeps the order within a FIFO group: one of a group in a call, one call at a time", async () => {
    const { sqs, producer } = await setup([take()], {}, ".fifo");
    const jobs = numbered(6).map((each, index) => ({
      ...each,
      orderingKey: index < 3 ? "a" : `b${index}`,
    }));

    const results = await producer.sendMany(jobs);

    expect(results.every(({ kind }) => kind === "sent")).toBe(true);
    expect(sqs.calls()).toEqual([["j0"], ["j1"], ["j2", "j3", "j4", "j5"]]);
    expect(sqs.seen[0]?.[0]).toMatchObject({
      MessageGroupId: "a",
      MessageDeduplicationId: "a.b/acme/j0",
    });
  });
});

describe("sendJob", () => {
  const child = { type: "a.b", payload: 1, tenantId: "acme", jobId: "c", delayMs: 0 };

  test("hands back the child that was sent", async () => {
    const { producer } = await setup();

    expect(await producer.sendJob(child)).toEqual({ jobId: "c", messageId: "m-c" });
  });

  test("throws why a child was not sent", async () => {
    const { producer } = await setup([fail(400, "QueueDoesNotExist")]);

    await expect(producer.sendJob(child)).rejects.toMatchObject({
      code: "SEND_FAILED",
      faultCode: "QueueDoesNotExist",
    });
    await expect(producer.sendJob({ ...child, type: "?" })).rejects.toMatchObject({
      code: "INVALID_IDENTITY",
    });
  });
});

describe("createProducer", () => {
  test("refuses options that make no sense", async () => {
    await expect(setup([], { maxAttempts: 0 })).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
  });
});
