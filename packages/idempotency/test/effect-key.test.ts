import { type JobIdentity, parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { contentHash, providerKey, toJson } from "../effect-key.ts";

function jobOf(tenantId: string, jobType: string, jobId: string): JobIdentity {
  return {
    tenantId: parseTenantId(tenantId),
    jobType: parseJobType(jobType),
    jobId: parseJobId(jobId),
  };
}

describe("the provider key", () => {
  test("never changes: providers remember it for a day, and records for ever", () => {
    const job = jobOf("acme", "payment.capture", "invoice-7");
    expect(providerKey("prod", job, "charge")).toBe(
      "a32057f34a8302ff19a34a0e69ceccad96076c6da4ce0223a5120ef051f1e07f",
    );
  });

  test("is another one for another environment, tenant, type, job or effect", () => {
    const keys = [
      providerKey("prod", jobOf("acme", "a.b", "7"), "charge"),
      providerKey("stage", jobOf("acme", "a.b", "7"), "charge"),
      providerKey("prod", jobOf("acme2", "a.b", "7"), "charge"),
      providerKey("prod", jobOf("acme", "a.c", "7"), "charge"),
      providerKey("prod", jobOf("acme", "a.b", "8"), "charge"),
      providerKey("prod", jobOf("acme", "a.b", "7"), "refund"),
    ];
    expect(new Set(keys).size).toBe(6);
  });

  test("is another one when the same letters are cut in other places", () => {
    const one = providerKey("prod", jobOf("ab", "c", "7"), "charge");
    const other = providerKey("prod", jobOf("a", "bc", "7"), "charge");
    const third = providerKey("prod", jobOf("a", "b", "c:7"), "charge");
    const fourth = providerKey("prod", jobOf("a", "b", "c"), "7:charge");
    expect(new Set([one, other, third, fourth]).size).toBe(4);
  });
});

describe("the hash of an input", () => {
  test("does not depend on the order of keys, but on everything else", () => {
    const hash = (value: unknown) => contentHash("the input", value);
    expect(hash({ a: 1, b: { c: [1, 2], d: null } })).toBe(
      hash({ b: { d: null, c: [1, 2] }, a: 1 }),
    );
    const others = [{ a: 1 }, { a: "1" }, { a: [1] }, { a: null }, [1], 1, "1", null, { a: 2 }];
    expect(new Set(others.map(hash)).size).toBe(others.length);
  });

  test("is that of JSON: what it leaves out does not count", () => {
    expect(contentHash("the input", { a: 1, b: undefined })).toBe(contentHash("x", { a: 1 }));
    expect(contentHash("the input", undefined)).toBe(contentHash("x", null));
  });

  test.each([[1n], [() => 1], [Symbol("x")]])("is refused for what is no JSON: %s", (value) => {
    expect(() => contentHash("the input", value)).toThrow("the input cannot be written as JSON");
    expect(toJson("x", undefined)).toBeUndefined();
  });
});
