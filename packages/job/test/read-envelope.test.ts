import { readEnvelope } from "@leasehold/job";
import { describe, expect, test } from "vitest";

const goodBody = {
  v: 1,
  type: "receipt.render",
  job_id: "inv-7",
  tenant_id: "acme",
  created_at: "2026-01-31T12:00:00.000Z",
  payload: { secret: "hunter2" },
};
const goodAttributes = { tenant_id: "acme", job_id: "inv-7", job_type: "receipt.render" };

const bodyWith = (changes: Record<string, unknown>) => JSON.stringify({ ...goodBody, ...changes });
const bodyWithout = (name: keyof typeof goodBody) => bodyWith({ [name]: undefined });

function nested(depth: number): unknown {
  return JSON.parse("[".repeat(depth) + "]".repeat(depth));
}

describe("readEnvelope", () => {
  test("reads a job, whole or with fewer attributes", () => {
    const expected = {
      kind: "job",
      job: {
        tenantId: "acme",
        jobId: "inv-7",
        jobType: "receipt.render",
        createdAtMs: 1_769_860_800_000,
        payload: { secret: "hunter2" },
      },
    };

    expect(readEnvelope(bodyWith({}), goodAttributes)).toEqual(expected);
    expect(readEnvelope(bodyWith({}), {})).toEqual(expected);
    expect(readEnvelope(bodyWith({}), { ...goodAttributes, colour: "red" })).toEqual(expected);
  });

  test("reads a job whose payload lies elsewhere", () => {
    const sha256 = "0a".repeat(32);
    const body = bodyWith({ payload: undefined, payload_ref: { sha256, bytes: 7, region: "x" } });

    expect(readEnvelope(body, {})).toEqual({
      kind: "job",
      job: {
        tenantId: "acme",
        jobId: "inv-7",
        jobType: "receipt.render",
        createdAtMs: 1_769_860_800_000,
        payload: undefined,
        payloadRef: { sha256, bytes: 7 },
      },
    });
  });

  const refs: [string, unknown, string][] = [
    ["null", null, "payload_ref.sha256 must be"],
    ["a text", "../secret", "payload_ref.sha256 must be"],
    ["a path", { sha256: "../secret", bytes: 1 }, "payload_ref.sha256 must be"],
    ["upper case", { sha256: "0A".repeat(32), bytes: 1 }, "payload_ref.sha256 must be"],
    ["no size", { sha256: "0a".repeat(32) }, "payload_ref.bytes must be"],
    ["half a byte", { sha256: "0a".repeat(32), bytes: 1.5 }, "payload_ref.bytes must be"],
    ["nothing", { sha256: "0a".repeat(32), bytes: 0 }, "payload_ref.bytes must be"],
  ];
  test.each(refs)("finds %s malformed as a claim to a payload", (_name, ref, detail) => {
    expect(readEnvelope(bodyWith({ payload: undefined, payload_ref: ref }), {})).toMatchObject({
      kind: "malformed",
      reason: "invalid-field",
      detail: expect.stringContaining(detail),
      identity: { jobId: "inv-7" },
    });
  });

  test("finds a payload and a claim to one malformed together", () => {
    const ref = { sha256: "0a".repeat(32), bytes: 1 };

    expect(readEnvelope(bodyWith({ payload_ref: ref }), {})).toMatchObject({
      kind: "malformed",
      detail: "payload and payload_ref exclude each other",
    });
  });

  const malformed: [string, string, string, string][] = [
    ["an empty body", "", "not-json", "the body is not JSON (0 characters)"],
    ["plain text", "hunter2", "not-json", "the body is not JSON (7 characters)"],
    ["half a body", bodyWith({}).slice(0, -1), "not-json", "the body is not JSON"],
    ["a byte order mark", `\ufeff${bodyWith({})}`, "not-json", "a byte order mark"],
    ["a million brackets", "[".repeat(1_000_000), "too-deep", "deeper than 128 levels"],
    ["a deep payload", bodyWith({ payload: nested(128) }), "too-deep", "deeper than 128 levels"],
    ["null", "null", "not-an-object", "the body is null"],
    ["a list", "[1]", "not-an-object", "the body is a list"],
    ["a number", "12", "not-an-object", "the body is a number"],
    ["an empty object", "{}", "missing-field", "v is missing"],
    ["no v", bodyWithout("v"), "missing-field", "v is missing"],
    ["no type", bodyWithout("type"), "missing-field", "type is missing"],
    ["no job_id", bodyWithout("job_id"), "missing-field", "job_id is missing"],
    ["no tenant_id", bodyWithout("tenant_id"), "missing-field", "tenant_id is missing"],
    ["no created_at", bodyWithout("created_at"), "missing-field", "created_at is missing"],
    ["no payload", bodyWithout("payload"), "missing-field", "payload is missing"],
    ["v as a text", bodyWith({ v: "1" }), "invalid-field", "got a string"],
    ["v of zero", bodyWith({ v: 0 }), "invalid-field", "got 0"],
    ["v broken", bodyWith({ v: 1.5 }), "invalid-field", "got 1.5"],
    ["v beyond numbers", bodyWith({}).replace('"v":1', '"v":1e999'), "invalid-field", "Infinity"],
    ["type as a number", bodyWith({ type: 7 }), "invalid-field", "job type must be a text"],
    ["type in capitals", bodyWith({ type: "Receipt" }), "invalid-field", "lower-case words"],
    ["type too long", bodyWith({ type: "t".repeat(101) }), "invalid-field", "at most 100"],
    ["job_id as a list", bodyWith({ job_id: ["a"] }), "invalid-field", "job_id must be a text"],
    ["job_id empty", bodyWith({ job_id: "" }), "invalid-field", "job_id must not be empty"],
    ["job_id too long", bodyWith({ job_id: "é".repeat(129) }), "invalid-field", "at most 256"],
    ["tenant_id null", bodyWith({ tenant_id: null }), "invalid-field", "tenant_id must be a text"],
    ["tenant_id blank", bodyWith({ tenant_id: " a" }), "invalid-field", "white space"],
    ["tenant_id too long", bodyWith({ tenant_id: "t".repeat(257) }), "invalid-field", "257"],
    ["a line break in an id", bodyWith({ tenant_id: "a\nb" }), "invalid-field", "control"],
    ["what SQS refuses in an id", bodyWith({ tenant_id: "a\uffff" }), "invalid-field", "control"],
    ["half a character", bodyWith({ job_id: "a\ud800" }), "invalid-field", "well-formed Unicode"],
    ["created_at as a number", bodyWith({ created_at: 1 }), "invalid-field", "got a number"],
    ["created_at of no zone", bodyWith({ created_at: "2026-01-31T12:00:00" }), "invalid-field", ""],
    ["created_at elsewhere", bodyWith({ created_at: "soon" }), "invalid-field", "created_at must"],
    [
      "a day that is none",
      bodyWith({ created_at: "2026-02-30T12:00:00Z" }),
      "invalid-field",
      "got 2026-02-30T12:00:00Z",
    ],
    [
      "a month that is none",
      bodyWith({ created_at: "2026-13-01T12:00:00Z" }),
      "invalid-field",
      "got 2026-13-01T12:00:00Z",
    ],
    [
      "a year beyond four digits",
      bodyWith({ created_at: "+275760-09-13T00:00:00.000Z" }),
      "invalid-field",
      "created_at must",
    ],
  ];
  test.each(malformed)("refuses %s", (_name, body, reason, detail) => {
    const reading = readEnvelope(body, {});

    expect(reading).toMatchObject({ kind: "malformed", reason });
    expect(reading).toHaveProperty("detail", expect.stringContaining(detail));
    expect(JSON.stringify(reading)).not.toContain("hunter2");
  });

  test.each([
    ["tenant_id", { ...goodAttributes, tenant_id: "globex" }],
    ["job_id", { ...goodAttributes, job_id: "inv-8" }],
    ["job_type", { ...goodAttributes, job_type: "invoice.issue" }],
    ["tenant_id, job_id", { tenant_id: "", job_id: "INV-7" }],
  ])("refuses a body whose attribute says another %s", (names, attributes) => {
    expect(readEnvelope(bodyWith({}), attributes)).toEqual({
      kind: "malformed",
      reason: "attribute-mismatch",
      detail: `attribute and body disagree on ${names}`,
      identity: { tenantId: "acme", jobId: "inv-7", jobType: "receipt.render" },
    });
  });

  test("tells a newer version apart, whatever else it says", () => {
    const body = bodyWith({ v: 2, created_at: undefined, payload: undefined, sealed: "..." });

    expect(readEnvelope(body, goodAttributes)).toEqual({
      kind: "newer-version",
      version: 2,
      identity: { tenantId: "acme", jobId: "inv-7", jobType: "receipt.render" },
    });
  });

  test("refuses a newer version whose attributes disagree", () => {
    expect(readEnvelope(bodyWith({ v: 2 }), { tenant_id: "globex" })).toMatchObject({
      kind: "malformed",
      reason: "attribute-mismatch",
    });
  });

  test("names the job by its attributes when the body cannot", () => {
    expect(readEnvelope("?", goodAttributes)).toMatchObject({
      identity: { tenantId: "acme", jobId: "inv-7", jobType: "receipt.render" },
    });
    expect(readEnvelope(bodyWith({ tenant_id: 7 }), { tenant_id: "globex" })).toMatchObject({
      identity: { tenantId: "globex", jobId: "inv-7", jobType: "receipt.render" },
    });
    expect(readEnvelope("?", { tenant_id: "\n" })).not.toHaveProperty("identity");
  });

  test("keeps keys like __proto__ as data of the payload", () => {
    const hostile = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const body = bodyWith({}).replace('{"secret":"hunter2"}', hostile);

    const reading = readEnvelope(body, goodAttributes);

    expect(reading.kind === "job" && JSON.stringify(reading.job.payload)).toBe(hostile);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("takes no field from a prototype that the body brings along", () => {
    const body = `{"__proto__":${bodyWith({})}}`;

    expect(readEnvelope(body, goodAttributes)).toMatchObject({
      kind: "malformed",
      reason: "missing-field",
    });
  });

  test("takes no attribute from the prototype of its record", () => {
    const attributes = Object.create({ tenant_id: "globex" }) as Record<string, string>;

    expect(readEnvelope(bodyWith({}), attributes).kind).toBe("job");
  });

  test("takes the last of two equal keys, as JSON does, and holds it against the attribute", () => {
    const body = bodyWith({}).replace("{", '{"tenant_id":"globex",');

    expect(readEnvelope(body, goodAttributes).kind).toBe("job");
    expect(readEnvelope(body, { tenant_id: "globex" })).toMatchObject({
      reason: "attribute-mismatch",
    });
  });

  test("takes a far future and numbers beyond precision as they are", () => {
    const body = bodyWith({ created_at: "9999-12-31T23:59:59.999Z" }).replace(
      '{"secret":"hunter2"}',
      "[9007199254740993,1e400]",
    );

    expect(readEnvelope(body, {})).toMatchObject({
      job: { createdAtMs: 253_402_300_799_999, payload: [9_007_199_254_740_992, Infinity] },
    });
  });

  test("does not count brackets within texts", () => {
    const payload = `${"[".repeat(500)}\\"${"{".repeat(500)}`;

    expect(readEnvelope(bodyWith({ payload }), {})).toMatchObject({ job: { payload } });
  });
});
