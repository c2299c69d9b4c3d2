import { describe, expect, test } from "vitest";
import { checkAddedAttributes } from "../job-attributes.ts";

const some = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`colour_${n}`, "red"]));

describe("checkAddedAttributes", () => {
  test("takes five", () => {
    expect(() => checkAddedAttributes(some(5))).not.toThrow();
  });

  test("refuses a sixth, and says whose the other places are", () => {
    expect(() => checkAddedAttributes(some(6))).toThrow(
      "attributes must be at most 5, got 6: SQS takes 10, and 5 are for tenant_id, job_id, " +
        "job_type, traceparent, tracestate; put into the payload what nobody filters by",
    );
  });

  test.each(["a", "A-1", "a.b", "order_id", "x".repeat(256)])("takes the name %j", (name) => {
    expect(() => checkAddedAttributes({ [name]: "1" })).not.toThrow();
  });

  test.each(["", ".a", "a.", "a..b", "a b", "é", "AWS.x", "amazon.x", "x".repeat(257)])(
    "refuses the name %j",
    (name) => {
      expect(() => checkAddedAttributes({ [name]: "1" })).toThrow("attribute name");
    },
  );

  test.each([
    ["an empty value", { a: "" }, 'attribute "a" must be a text, got an empty one'],
    ["a number", { a: 1 }, 'attribute "a" must be a text, got a number'],
    ["null", { a: null }, 'attribute "a" must be a text, got null'],
    ["half an emoji", { a: "\ud83e" }, 'attribute "a" has a character that SQS does not take'],
    ["a zero byte", { a: "x\0" }, 'attribute "a" has a character that SQS does not take'],
    ["one of ours", { job_id: "x" }, 'attributes must not have "job_id": the producer sets it'],
    ["a list", ["x"], "attributes must be an object of texts by their names"],
    ["a text", "x", "attributes must be an object of texts by their names"],
  ])("refuses %s", (_name, attributes, problem) => {
    expect(() => checkAddedAttributes(attributes as never)).toThrow(problem);
  });

  test("names every problem, and no value", () => {
    expect(() => checkAddedAttributes({ "a b": "hunter2", c: "" })).toThrow(
      /^attribute name "a b" must be (?!.*hunter2).*; attribute "c" must be a text, got an empty one$/,
    );
  });
});
