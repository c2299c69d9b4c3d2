import { JobAbortedError } from "@leasehold/job";
import { describe, expect, test } from "vitest";
import { codeOf, describeThrown, isAbortPassedOn } from "../thrown.ts";

const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error("do not look");
    },
  },
);

describe("describeThrown", () => {
  test.each<[string, unknown, string, string]>([
    ["an error", new TypeError("bad"), "TypeError", "bad"],
    ["a text", "boom", "NonError", "boom"],
    ["undefined", undefined, "NonError", "threw undefined"],
    ["null", null, "NonError", "threw object"],
    ["a symbol", Symbol("x"), "NonError", "threw symbol"],
    ["a plain object", { secret: "s3cr3t" }, "NonError", "threw an object that is no error"],
    ["an object that looks like an error", { name: "E", message: "m" }, "E", "m"],
    ["an object whose getters throw", hostile, "NonError", "threw an object that is no error"],
    ["a frozen error", Object.freeze(new Error("cold")), "Error", "cold"],
  ])("names %s", (_, thrown, name, message) => {
    expect(describeThrown(thrown)).toMatchObject({ name, message });
  });

  test("shortens what is too long for a log", () => {
    const { message, stack } = describeThrown(new Error("x".repeat(100_000)));
    expect(message).toHaveLength(1_003);
    expect(stack?.length).toBeLessThan(5_000);
  });
});

describe("codeOf", () => {
  test("reads the stable word, and nothing else", () => {
    expect(codeOf(Object.assign(new Error(), { code: "LEASE_LOST" }))).toBe("LEASE_LOST");
    expect([codeOf({ code: 7 }), codeOf("text"), codeOf(null), codeOf(hostile)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("isAbortPassedOn", () => {
  const reason = new JobAbortedError("drain-deadline");

  test.each<[string, unknown, boolean]>([
    ["the reason itself", reason, true],
    ["what it caused", new Error("render failed", { cause: reason }), true],
    ["what that caused", new Error("a", { cause: new Error("b", { cause: reason }) }), true],
    ["the error of an aborted fetch", new DOMException("aborted", "AbortError"), true],
    ["a failure of its own", new Error("no printer"), false],
    ["nothing", undefined, false],
    ["an object whose getters throw", hostile, false],
  ])("tells %s", (_, thrown, expected) => {
    expect(isAbortPassedOn(thrown, reason)).toBe(expected);
  });

  test("is not lost in a circle of causes", () => {
    const one = new Error("one");
    const other = new Error("other", { cause: one });
    one.cause = other;
    expect(isAbortPassedOn(one, reason)).toBe(false);
  });
});
