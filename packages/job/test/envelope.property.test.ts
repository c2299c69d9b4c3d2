import {
  MAX_ID_BYTES,
  type OutgoingJob,
  parseJobId,
  parseJobType,
  parseTenantId,
  readEnvelope,
  writeEnvelope,
} from "@leasehold/job";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** Any text that `parse` takes: what is legal is said by the parser, not by this generator. */
function legal<Id extends string>(texts: fc.Arbitrary<string>, parse: (value: unknown) => Id) {
  const isLegal = (text: string) => {
    try {
      return parse(text) === text;
    } catch {
      return false;
    }
  };
  return texts.filter(isLegal).map(parse);
}

const idTexts = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
  fc.constantFrom("x".repeat(MAX_ID_BYTES), "é".repeat(128), "a b/c#d", "__proto__", "日本語"),
);
const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const typeTexts = fc
  .tuple(word, fc.array(fc.tuple(fc.constantFrom(".", "-", "_"), word), { maxLength: 4 }))
  .map(([first, rest]) => first + rest.flat().join(""));

/** A payload as JSON hands it back: no -0, no own `__proto__` lost. */
const payloads = fc.json({ maxDepth: 6, noUnicodeString: false }).map((text) => JSON.parse(text));

const jobs: fc.Arbitrary<OutgoingJob> = fc.record({
  tenantId: legal(idTexts, parseTenantId),
  jobId: legal(idTexts, parseJobId),
  jobType: legal(typeTexts, parseJobType),
  createdAtMs: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  payload: payloads,
});

const keys = fc.constantFrom("v", "type", "job_id", "tenant_id", "created_at", "payload", "x");
const almostEnvelopes = fc
  .dictionary(keys, fc.oneof(fc.constantFrom(1, 2, "acme", "a.b", null), fc.jsonValue()))
  .map((fields) => JSON.stringify(fields));
const anyAttributes = fc.dictionary(
  fc.oneof(fc.constantFrom("tenant_id", "job_id", "job_type"), fc.string()),
  fc.oneof(fc.constantFrom("acme", "a.b"), fc.string({ unit: "binary" })),
);
const anyBodies = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("utf16le")),
  fc.json(),
  almostEnvelopes,
);

describe("an envelope", () => {
  test("comes back as it was written, for every legal identity", () => {
    fc.assert(
      fc.property(jobs, (job) => {
        const { body, attributes } = writeEnvelope(job);
        expect(readEnvelope(body, attributes)).toEqual({ kind: "job", job });
      }),
    );
  });

  test("consists of characters that SQS takes", () => {
    const sqsText = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u;
    fc.assert(
      fc.property(jobs, (job) => {
        const { body, attributes } = writeEnvelope(job);
        for (const text of [body, ...Object.values(attributes)]) expect(text).toMatch(sqsText);
      }),
    );
  });

  test("is read without throwing, whatever the body and the attributes are", () => {
    fc.assert(
      fc.property(anyBodies, anyAttributes, (body, attributes) => {
        const { kind } = readEnvelope(body, attributes);
        expect(["job", "malformed", "newer-version"]).toContain(kind);
      }),
      { numRuns: 2_000 },
    );
  });

  test("cut or changed at any place never throws, and never changes who it belongs to", () => {
    fc.assert(
      fc.property(jobs, fc.nat(), fc.string({ maxLength: 2 }), (job, place, put) => {
        const { body, attributes } = writeEnvelope(job);
        const at = place % body.length;
        const reading = readEnvelope(body.slice(0, at) + put + body.slice(at + 1), attributes);
        if (reading.kind === "job") expect(reading.job.tenantId).toBe(job.tenantId);
      }),
    );
  });

  test("of every kind comes out of these generators (they are not vacuous)", () => {
    const bodies = fc.sample(fc.tuple(anyBodies, anyAttributes), 5_000);
    const seen = new Set(
      bodies.map(([body, attributes]) => {
        const reading = readEnvelope(body, attributes);
        return reading.kind === "malformed" ? reading.reason : reading.kind;
      }),
    );
    for (const reason of ["not-json", "not-an-object", "missing-field", "invalid-field"]) {
      expect(seen).toContain(reason);
    }
  });
});
