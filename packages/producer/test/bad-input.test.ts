import { createProducer, type JobToSend, type TypedJobToSend } from "@leasehold/producer";
import { describe, expect, test } from "vitest";
import { openQueue, read } from "./queue-site.ts";

const job = { tenantId: "acme", jobId: "j" };

async function payloads(site: Awaited<ReturnType<typeof openQueue>>) {
  const readings = (await site.receiveAll()).map(read);
  return readings.map((reading) => (reading.kind === "job" ? reading.job.payload : reading));
}

describe("strange but legal", () => {
  test.each([
    ["a text with spaces", "a text  with spaces "],
    ["an empty text", ""],
    ["emoji", "🧾👩‍👩‍👧‍👦"],
    ["half an emoji", "\ud83e"],
    ["characters that SQS refuses", "\u0000\uffff\ufffe"],
    ["null", null],
    ["the name of a prototype", { constructor: 1, __proto__x: 2 }],
  ])("%s arrives as it was sent", async (_name, payload) => {
    const site = await openQueue();

    expect(await site.producer.send("a.b", { ...job, payload })).toMatchObject({ kind: "sent" });
    expect(await payloads(site)).toEqual([payload]);
  });

  test("ids with spaces and emoji are sent as they are", async () => {
    const site = await openQueue("jobs.fifo", { FifoQueue: "true" });

    const result = await site.producer.send("a.b", {
      tenantId: "Frau Müller 🧾",
      jobId: "invoice 7 of 9 🧾",
      orderingKey: "customer 9 🧾",
      payload: 1,
    });

    expect(result).toMatchObject({ kind: "sent", jobId: "invoice 7 of 9 🧾" });
    const [message = {}] = await site.receive();
    expect(read(message)).toMatchObject({
      kind: "job",
      job: { tenantId: "Frau Müller 🧾", jobId: "invoice 7 of 9 🧾" },
    });
  });

  test("bodies that are large together or equal, and ids that are odd, each find their message (bbc/sqs-producer (measured))", async () => {
    const site = await openQueue();
    const large = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(200_000));
    const texts = ["a text with spaces", "equal", "equal", ...large];

    const results = await site.producer.sendMany(
      texts.map((payload, n) => ({ type: "a.b", tenantId: "acme", jobId: `job ${n}`, payload })),
    );

    expect(results.map(({ kind }) => kind)).toEqual(texts.map(() => "sent"));
    const messageIds = results.map((result) => "messageId" in result && result.messageId);
    const received = new Map(
      (await site.receiveAll()).map((message) => [message.MessageId, read(message)]),
    );
    expect(received.size).toBe(13);
    expect(messageIds.map((id) => received.get(id || ""))).toMatchObject(
      texts.map((payload, n) => ({ kind: "job", job: { jobId: `job ${n}`, payload } })),
    );
  });
});

describe("bad input", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const bad: [string, unknown, string][] = [
    ["no delay", { delayMs: Number.NaN }, "delayMs must be a number between 0 and 900000, got NaN"],
    ["a delay as a text", { delayMs: "5" }, "delayMs must be a number between 0 and 900000, got 5"],
    [
      "a delay of null",
      { delayMs: null },
      "delayMs must be a number between 0 and 900000, got null",
    ],
    ["a negative delay", { delayMs: -1 }, "delayMs must be a number between 0 and 900000, got -1"],
    [
      "a delay of more than 15 minutes",
      { delayMs: 900_001 },
      "got 900001: for a longer delay let the handler throw RetryLaterError, or keep the due time",
    ],
    [
      "an eleventh attribute",
      { attributes: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`a${n}`, "x"])) },
      "attributes must be at most 5, got 11",
    ],
    ["a number as attribute", { attributes: { a: 1 } }, 'attribute "a" must be a text'],
    ["an order without FIFO", { orderingKey: "a" }, "orderingKey needs a FIFO queue"],
    ["a misspelt field", { delaySeconds: 5 }, "delaySeconds is no field of a job; known are type,"],
    ["no tenant", { tenantId: undefined }, "tenant_id must be a text, got a undefined"],
    ["a number as id", { jobId: 7 }, "job_id must be a text, got a number"],
    ["null as id", { jobId: null }, "kind: sent"],
    ["an id with an end of line", { jobId: "a\nb" }, "job_id must be free of control characters"],
    ["no payload", { payload: undefined }, "JSON cannot carry undefined"],
    ["a bigint", { payload: 1n }, "JSON cannot carry it (TypeError)"],
    ["a circle", { payload: circle }, "JSON cannot carry it (TypeError)"],
    ["a function", { payload: () => 1 }, "JSON cannot carry function"],
    ["a trace that is no text", { traceparent: 7 }, "traceparent must be a text, got a number"],
    ["a trace header that is no text", { awsTraceHeader: 7 }, "awsTraceHeader must be a text"],
  ];
  test.each(bad)("%s is refused by name, and nothing is sent", async (_name, changes, problem) => {
    const site = await openQueue();
    const producer = createProducer({ ...site, onEvent: () => undefined });
    const given = { ...job, payload: null, ...(changes as object) } as JobToSend;

    const result = await producer.send("a.b", given);

    const said = result.kind === "refused" ? result.error.message : `kind: ${result.kind}`;
    expect(said).toContain(problem);
    expect(await site.receive()).toHaveLength(result.kind === "sent" ? 1 : 0);
  });

  test("what is no job at all takes no other along", async () => {
    const site = await openQueue();
    const good = { ...job, type: "a.b", payload: null };
    const jobs = [null, good, undefined, "job", 7, { ...good, type: null }, { ...good, type: {} }];

    const results = await site.producer.sendMany(jobs as TypedJobToSend[]);

    expect(results.map(({ kind }) => kind)).toEqual([
      ...["refused", "sent", "refused", "refused", "refused", "refused", "refused"],
    ]);
    expect(results[0]).toMatchObject({
      error: { message: "a job must be an object with tenantId and payload, got null" },
    });
    expect(results[5]).toMatchObject({
      error: { message: "job type must be a text, got a undefined" },
    });
  });

  test("what is no list of jobs is refused whole", async () => {
    const { producer } = await openQueue();

    await expect(producer.sendMany({} as [])).rejects.toMatchObject({ code: "UNSENDABLE_JOB" });
  });
});
