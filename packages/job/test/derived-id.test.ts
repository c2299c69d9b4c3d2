import {
  childJobId,
  deduplicationId,
  type JobIdentity,
  parseJobId,
  parseJobType,
  parseTenantId,
  toSqsId,
} from "@leasehold/job";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const sqsId = /^[a-zA-Z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

function identity(tenant: string, type: string, id: string): JobIdentity {
  return { tenantId: parseTenantId(tenant), jobType: parseJobType(type), jobId: parseJobId(id) };
}

describe("toSqsId", () => {
  test("leaves alone what SQS takes", () => {
    expect(toSqsId("acme")).toBe("acme");
    expect(toSqsId("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")).toBe(
      "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    );
    expect(toSqsId("x".repeat(128))).toBe("x".repeat(128));
  });

  test("keeps a readable beginning of what it hashes", () => {
    expect(toSqsId("grün ag")).toBe(
      "gr_n_ag~121f5a9cddfc7e833b1c796d0e1558a63792128cdf2055f6a963ea9b4a01ce89",
    );
    expect(toSqsId("x".repeat(129))).toMatch(/^x{63}~[0-9a-f]{64}$/);
  });

  test("hashes a text that only looks hashed, so that nobody can name another's id", () => {
    const hashed = toSqsId("grün ag");

    expect(toSqsId(hashed)).not.toBe(hashed);
  });

  test("is legal for any text, and differs for texts that differ", () => {
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expect(toSqsId(one)).toMatch(sqsId);
        if (one.toWellFormed() !== other.toWellFormed()) {
          expect(toSqsId(one)).not.toBe(toSqsId(other));
        }
      }),
    );
  });
});

describe("deduplicationId", () => {
  test("names type, tenant and job", () => {
    expect(deduplicationId(identity("acme", "receipt.render", "inv-7"))).toBe(
      "receipt.render/acme/inv-7",
    );
  });

  test("differs when any part does, also when parts run into each other", () => {
    const jobs = [
      identity("acme", "a.b", "7"),
      identity("globex", "a.b", "7"),
      identity("acme", "a.c", "7"),
      identity("acme", "a.b", "8"),
      identity("acme/7", "a.b", "8"),
      identity("acme", "a.b", "7/8"),
    ];

    expect(new Set(jobs.map(deduplicationId)).size).toBe(6);
  });

  test("is what SQS takes, however long and foreign the ids are", () => {
    const id = deduplicationId(identity("日".repeat(80), "a.b", "ü".repeat(128)));

    expect(id).toMatch(sqsId);
    expect(id).toMatch(/^a\.b\/%E6%97%A5/);
  });
});

describe("childJobId", () => {
  const parent = identity("acme", "payment.webhook", "evt_1");

  test("is the same for each run of the parent, and tells parent and name", () => {
    expect(childJobId(parent, "receipt")).toBe("payment.webhook/acme/evt_1/receipt");
  });

  test("differs by name and by each part of the parent", () => {
    const ids = [
      childJobId(parent, "receipt"),
      childJobId(parent, "mail"),
      childJobId(identity("globex", "payment.webhook", "evt_1"), "receipt"),
      childJobId(identity("acme", "invoice.issue", "evt_1"), "receipt"),
      childJobId(identity("acme", "payment.webhook", "evt_2"), "receipt"),
      childJobId(identity("acme", "payment.webhook", "evt_1/a"), "receipt"),
      childJobId(parent, "a/receipt"),
    ];

    expect(new Set(ids).size).toBe(7);
  });

  test("stays within the limit of ids down a long line of children", () => {
    let id = parent;
    for (let generation = 0; generation < 20; generation += 1) {
      id = { ...id, jobId: childJobId(id, "größe/next") };
    }

    expect(Buffer.byteLength(id.jobId)).toBeLessThanOrEqual(256);
    expect(id.jobId).toMatch(/^payment\.webhook\/acme\/.*~[0-9a-f]{64}$/);
  });

  test("refuses a name that is empty or no text", () => {
    expect(() => childJobId(parent, "")).toThrow("name of a child job");
    expect(() => childJobId(parent, "\ud800")).toThrow("name of a child job");
  });

  test("is a legal id for every legal parent and any name", () => {
    const ids = fc.constantFrom("é".repeat(128), "a b", "🧾".repeat(64), "x".repeat(256), "%/~");
    const names = fc.string({ unit: "grapheme", minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(ids, ids, names, (tenant, jobId, name) => {
        fc.pre(name.isWellFormed());
        const id = childJobId(identity(tenant, "a.b", jobId), name);
        expect(parseJobId(id)).toBe(id);
      }),
    );
  });
});
