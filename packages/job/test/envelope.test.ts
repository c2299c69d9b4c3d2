import {
  InvalidPayloadError,
  type OutgoingJob,
  parseJobId,
  parseJobType,
  parseTenantId,
  readEnvelope,
  writeEnvelope,
} from "@leasehold/job";
import { describe, expect, test } from "vitest";

const job: OutgoingJob = {
  tenantId: parseTenantId("acme"),
  jobId: parseJobId("inv-7"),
  jobType: parseJobType("receipt.render"),
  createdAtMs: Date.UTC(2026, 0, 31, 12),
  payload: { invoice: "inv-7" },
};

describe("writeEnvelope", () => {
  test("writes the body and the attributes that every reader knows", () => {
    const { body, attributes } = writeEnvelope(job);

    expect(JSON.parse(body)).toEqual({
      v: 1,
      type: "receipt.render",
      job_id: "inv-7",
      tenant_id: "acme",
      created_at: "2026-01-31T12:00:00.000Z",
      payload: { invoice: "inv-7" },
    });
    expect(attributes).toEqual({
      tenant_id: "acme",
      job_id: "inv-7",
      job_type: "receipt.render",
    });
  });

  test("hands the trace context on as attributes", () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    const { attributes } = writeEnvelope({ ...job, traceparent, tracestate: "vendor=1" });

    expect(attributes).toMatchObject({ traceparent, tracestate: "vendor=1" });
  });

  test("escapes the two characters that SQS refuses in a body", () => {
    const { body, attributes } = writeEnvelope({ ...job, payload: "a\uffffb\ufffe" });

    expect(body).toContain(String.raw`"a\uffffb\ufffe"`);
    expect(readEnvelope(body, attributes)).toMatchObject({ job: { payload: "a\uffffb\ufffe" } });
  });

  const circle: { self?: unknown } = {};
  circle.self = circle;
  test.each([
    ["nothing", undefined, "JSON cannot carry undefined"],
    ["a function", () => 1, "JSON cannot carry function"],
    ["a bigint", 1n, "JSON cannot carry it (TypeError)"],
    ["a circle", circle, "JSON cannot carry it (TypeError)"],
    ["what no reader would take", nested(128), "it nests deeper than 128 levels"],
  ])("refuses a payload of %s", (_name, payload, problem) => {
    expect(() => writeEnvelope({ ...job, payload })).toThrow(new InvalidPayloadError([problem]));
  });

  test("takes the deepest payload that a reader takes", () => {
    const { body, attributes } = writeEnvelope({ ...job, payload: nested(127) });

    expect(readEnvelope(body, attributes).kind).toBe("job");
  });
});

function nested(depth: number): unknown {
  return JSON.parse("[".repeat(depth) + "]".repeat(depth));
}
