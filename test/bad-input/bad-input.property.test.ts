import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytes, envelope, nested, type SqsAttributes, text } from "./envelopes.ts";
import { type Sent, startTrial, type Trial } from "./trial.ts";

const TEN_SECONDS_MS = 10_000;

/** Any text that SQS takes. */
const sqsText = fc
  .string({ unit: "binary", minLength: 1, maxLength: 200 })
  .map((value) => value.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, " "));

const oddValue = fc.oneof(
  fc.constantFrom(undefined, null, true, 0, -1, 1, 1.5, 2, 1e308, "", " ", [], {}, [[]]),
  fc.constantFrom(
    "acme",
    "inv-7/v2",
    "receipt.render",
    "receipt.fax",
    "__proto__",
    "é".repeat(200),
  ),
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 4 }),
);

/** An envelope with some fields changed, left out or added. */
const almostGood = fc
  .dictionary(
    fc.constantFrom("v", "type", "job_id", "tenant_id", "created_at", "payload", "more"),
    oddValue,
    { maxKeys: 2 },
  )
  .map(envelope);

const payloads = fc
  .record(
    {
      invoiceId: fc.oneof(fc.constant("inv-7"), oddValue),
      lines: fc.oneof(fc.array(fc.record({ amount: oddValue })), oddValue),
      labels: fc.dictionary(fc.constantFrom("__proto__", "constructor", "a"), oddValue),
      open: fc.jsonValue(),
    },
    { requiredKeys: ["invoiceId"] },
  )
  .map((payload) => envelope({ payload }));

/** A good body with a piece cut out or another put in. */
const damaged = fc
  .tuple(fc.nat(200), fc.nat(40), sqsText)
  .map(([at, length, piece]) => envelope().slice(0, at) + piece + envelope().slice(at + length));

const body = fc.oneof(
  { weight: 4, arbitrary: almostGood },
  { weight: 2, arbitrary: payloads },
  fc.constantFrom(envelope(), envelope({ v: 2 }), envelope({ type: "receipt.fax" })),
  damaged,
  sqsText,
  fc.json(),
  fc.integer({ min: 100, max: 5_000 }).map(nested),
);

const attribute = fc.oneof(
  sqsText.map((value) => text(value)),
  fc.constantFrom("acme", "inv-7/v2", "receipt.render").map((value) => text(value)),
  fc.integer().map((value) => text(String(value), "Number")),
  fc.uint8Array({ minLength: 1, maxLength: 50 }).map(bytes),
  fc.json().map((value) => text(value, "String.json")),
  { weight: 3, arbitrary: fc.constantFrom(1, 1_000, 40_000).map((depth) => text(nested(depth))) },
);

const attributes: fc.Arbitrary<SqsAttributes> = fc
  .uniqueArray(
    fc.tuple(
      fc.oneof(
        fc.constantFrom("tenant_id", "job_id", "job_type", "traceparent", "tracestate"),
        fc.constantFrom("dead_letter_reason", "dead_letter_detail", "dead_letter_source"),
        fc.constantFrom("dead_letter_history", "__proto__", "constructor", "toString"),
        fc.stringMatching(/^[a-z]{1,30}$/),
      ),
      attribute,
    ),
    { maxLength: 10, selector: ([name]) => name },
  )
  .map((entries) => Object.fromEntries(entries));

const message: fc.Arbitrary<Sent> = fc
  .record({ body, attributes: fc.oneof(fc.constant({}), attributes) })
  .filter(
    (sent) => sent.body !== "" && !/[\ud800-\udfff\ufffe\uffff]/.test(withoutPairs(sent.body)),
  );

function withoutPairs(value: string): string {
  return value.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "");
}

/** Where each message is after ten seconds. */
async function work(trial: Trial, messages: readonly Sent[]) {
  const ids = await Promise.all(messages.map((sent) => trial.sendRaw(sent)));
  await trial.clock.advance(TEN_SECONDS_MS);
  const deadLetters = await trial.deadLetters();
  const waiting = ids.filter((id) => !trial.isDeleted(id));
  return { ids, deadLetters, waiting };
}

describe("any message whatever", () => {
  test("never vanishes, never comes back at once, and never stops the worker", async () => {
    const batches = fc.array(message, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(batches, async (messages) => {
        const trial = await startTrial();
        const { ids, deadLetters, waiting } = await work(trial, messages);

        expect(trial.handled.length + deadLetters.length + waiting.length).toBe(ids.length);
        const { visible, inFlight } = trial.queue.counts();
        expect(visible + inFlight).toBe(waiting.length);
        for (const id of ids) expect(trial.deliveredAtMs(id).length).toBeLessThanOrEqual(3);
        for (const copy of deadLetters) {
          expect(messages.some((sent) => sent.body === copy.Body)).toBe(true);
        }

        const handledBefore = trial.handled.length;
        const goodId = await trial.sendRaw({ body: envelope() });
        await trial.clock.advance(3_000);
        expect(trial.isDeleted(goodId)).toBe(true);
        expect(trial.handled).toHaveLength(handledBefore + 1);
        expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
      }),
      { numRuns: 150 },
    );
  });

  test("comes to every end there is (the generator is not vacuous)", async () => {
    const trial = await startTrial();
    const { deadLetters, waiting } = await work(
      trial,
      fc.sample(message, { numRuns: 1_500, seed: 7 }),
    );

    expect(trial.handled.length).toBeGreaterThan(50);
    expect(waiting.length).toBeGreaterThan(20);
    const words = deadLetters.map(
      (copy) => copy.MessageAttributes?.["dead_letter_detail"]?.StringValue?.split(":")[0],
    );
    expect([...new Set(words)].map(String).sort()).toEqual([
      "attribute-mismatch",
      "invalid-field",
      "invalid-payload",
      "missing-field",
      "not-an-object",
      "not-json",
      "too-deep",
      "undefined",
    ]);
  });
});
