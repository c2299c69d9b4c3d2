import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { JobTooLargeError, UnsendableJobError } from "../errors.ts";
import { writeEntry } from "../message-entry.ts";

const job = {
  tenantId: parseTenantId("acme"),
  jobId: parseJobId("inv-7"),
  jobType: parseJobType("receipt.render"),
  createdAtMs: Date.UTC(2026, 0, 31, 12),
  payload: { total: 5 },
};
const standard = { fifo: false, delayMs: 0 };
const fifo = { fifo: true, delayMs: 0 };

/** Envelope, attributes and the two quotes of a payload that is a text. */
const FIXED_BYTES = 184;
const payloadFor = (bytes: number) => "x".repeat(bytes - FIXED_BYTES);

describe("writeEntry", () => {
  test("writes a message for a standard queue, with the tenant as its fair group", () => {
    expect(writeEntry(job, standard)).toEqual({
      body: '{"v":1,"type":"receipt.render","job_id":"inv-7","tenant_id":"acme","created_at":"2026-01-31T12:00:00.000Z","payload":{"total":5}}',
      attributes: { tenant_id: "acme", job_id: "inv-7", job_type: "receipt.render" },
      groupId: "acme",
      bytes: 193,
    });
  });

  test("orders a FIFO message by its tenant, or by the key it was given", () => {
    expect(writeEntry(job, fifo)).toMatchObject({
      groupId: "acme",
      deduplicationId: "receipt.render/acme/inv-7",
    });
    expect(writeEntry(job, { ...fifo, orderingKey: "customer 9" })).toMatchObject({
      groupId: expect.stringMatching(/^customer_9~[0-9a-f]{64}$/),
      deduplicationId: "receipt.render/acme/inv-7",
    });
  });

  test("hashes a tenant that SQS cannot take as a group, and keeps it whole in the body", () => {
    const entry = writeEntry({ ...job, tenantId: parseTenantId("Größe GmbH") }, standard);

    expect(entry.groupId).toMatch(/^Gr__e_GmbH~[0-9a-f]{64}$/);
    expect(entry.attributes["tenant_id"]).toBe("Größe GmbH");
  });

  test.each([
    [0, undefined],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_000, 900],
  ])("turns a delay of %d ms into %s whole seconds", (delayMs, seconds) => {
    expect(writeEntry(job, { fifo: false, delayMs }).delaySeconds).toBe(seconds);
  });

  test.each([900_001, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses a delay of %d ms and names the way out",
    (delayMs) => {
      const attempt = () => writeEntry(job, { fifo: false, delayMs });

      expect(attempt).toThrow(UnsendableJobError);
      expect(attempt).toThrow("RetryLaterError");
    },
  );

  test("refuses a delay on FIFO, an order without FIFO, and an empty key", () => {
    expect(() => writeEntry(job, { fifo: true, delayMs: 1_000 })).toThrow("DelaySeconds");
    expect(() => writeEntry(job, { ...standard, orderingKey: "a" })).toThrow("needs a FIFO queue");
    expect(() => writeEntry(job, { ...fifo, orderingKey: "" })).toThrow(
      "orderingKey must be a text that is not empty, got an empty one",
    );
  });

  test("takes a message of exactly 1 MiB", () => {
    expect(writeEntry({ ...job, payload: payloadFor(1_048_576) }, standard).bytes).toBe(1_048_576);
  });

  test("refuses one byte more, naming size and limit but not the payload", () => {
    const attempt = () => writeEntry({ ...job, payload: payloadFor(1_048_577) }, standard);

    expect(attempt).toThrow(JobTooLargeError);
    expect(attempt).toThrow(
      "job inv-7 takes 1048577 bytes on the wire, SQS takes 1048576: " +
        "give createProducer a claimCheck store for such payloads, " +
        "or store the payload yourself and send where it lies",
    );
  });

  test("counts bytes, not characters, and the trace context too", () => {
    const plain = writeEntry({ ...job, payload: "ab" }, standard).bytes;

    expect(writeEntry({ ...job, payload: "éé" }, standard).bytes).toBe(plain + 2);
    expect(writeEntry({ ...job, payload: "ab", traceparent: "00-1" }, standard).bytes).toBe(
      plain + 11 + 6 + 4,
    );
  });
});
