import { InvalidIdentityError, parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { describe, expect, test } from "vitest";

describe("parseTenantId and parseJobId", () => {
  test.each(["a", "inv-7", "evt_1/2#3 x", "größe", "日本語", "🧾", "x".repeat(256)])(
    "take %j",
    (text) => {
      expect(parseTenantId(text)).toBe(text);
      expect(parseJobId(text)).toBe(text);
    },
  );

  test.each([
    ["a number", 7, "must be a text, got a number"],
    ["null", null, "must be a text, got null"],
    ["an empty text", "", "must not be empty"],
    ["white space around", "a ", "start or end with white space"],
    ["257 bytes", "x".repeat(257), "at most 256 bytes"],
    ["257 bytes of fewer characters", `a${"é".repeat(128)}`, "at most 256 bytes"],
    ["a control character", "a\u0000b", "free of control characters"],
    ["a control character of Latin-1", "a\u0085b", "free of control characters"],
    ["a character that SQS refuses", "a\ufffe", "free of control characters"],
    ["half a character", "\udc00", "well-formed Unicode"],
  ])("refuse %s", (_name, value, problem) => {
    expect(() => parseTenantId(value)).toThrow(InvalidIdentityError);
    expect(() => parseTenantId(value)).toThrow(`tenant_id `);
    expect(() => parseJobId(value)).toThrow(problem);
  });

  test("show only the beginning of what they refuse", () => {
    expect(() => parseJobId("x".repeat(5_000))).toThrow(`${"x".repeat(60)}..." (5000 characters)`);
  });
});

describe("parseJobType", () => {
  test.each(["a", "receipt.render", "a-b_c.d2", "2fa.send", "t".repeat(100)])("takes %j", (text) =>
    expect(parseJobType(text)).toBe(text),
  );

  test.each(["", "A", "a..b", ".a", "a.", "a b", "a/b", "é", "t".repeat(101), 7, undefined])(
    "refuses %j",
    (value) => expect(() => parseJobType(value)).toThrow(InvalidIdentityError),
  );
});
