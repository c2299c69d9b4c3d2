import { describe, expect, test } from "vitest";
import { faultSyntax, readFaultRules } from "../index.ts";

describe("faults as text", () => {
  test.each([
    ["ReceiveMessage:throttle:0.1", { kind: "throttle" }, ["ReceiveMessage"], 0.1],
    ["*:hung", { kind: "hung" }, undefined, 1],
    ["PutItem:lost-reply:0", { kind: "lost-reply" }, ["PutItem"], 0],
    ["*:server-error", { kind: "server-error", side: "before" }, undefined, 1],
    ["*:server-error-after", { kind: "server-error", side: "after" }, undefined, 1],
    ["*:reset", { kind: "reset", side: "before" }, undefined, 1],
    ["*:reset-after", { kind: "reset", side: "after" }, undefined, 1],
    ["*:latency=400", { kind: "latency", side: "before", delayMs: 400 }, undefined, 1],
    ["*:latency-after=0:1", { kind: "latency", side: "after", delayMs: 0 }, undefined, 1],
    ["*:slow-body=1200", { kind: "slow-body", durationMs: 1_200 }, undefined, 1],
    ["*:failed-entries:1.0", { kind: "failed-entries" }, undefined, 1],
  ])("`%s` is one rule", (text, fault, actions, chance) => {
    const rule = { fault, chance, ...(actions === undefined ? {} : { actions }) };
    expect(readFaultRules(text)).toEqual([rule]);
  });

  test("is several rules with commas between them, in their order", () => {
    const rules = readFaultRules("SendMessage:hung, *:throttle:0.5");

    expect(rules.map(({ fault, actions }) => [fault.kind, actions])).toEqual([
      ["hung", ["SendMessage"]],
      ["throttle", undefined],
    ]);
  });

  test.each([
    ["", "'' is not ACTION:FAULT or ACTION:FAULT:CHANCE"],
    ["throttle", "'throttle' is not ACTION:FAULT"],
    [":throttle", "':throttle' is not ACTION:FAULT"],
    ["*:hung:1:2", "'*:hung:1:2' is not ACTION:FAULT"],
    ["*:hung,", "'' is not ACTION:FAULT"],
    ["receivemessage:hung", "has an action 'receivemessage', but ReceiveMessage"],
    ["Receive:hung", "neither SQS nor DynamoDB has an action 'Receive'"],
    ["*:hang", "there is no fault 'hang'; there are throttle, server-error, "],
    ["*:constructor", "there is no fault 'constructor'"],
    ["*:latency", "'latency' needs whole milliseconds, as in 'latency=400', got 'latency'"],
    ["*:latency=", "got 'latency='"],
    ["*:latency=1.5", "got 'latency=1.5'"],
    ["*:latency=-1", "got 'latency=-1'"],
    ["*:hung=5", "'hung' takes no milliseconds, got 'hung=5'"],
    ["*:hung:2", "the chance of '*:hung:2' must be a number between 0 and 1, got '2'"],
    ["*:hung:-1", "got '-1'"],
    ["*:hung:", "got ''"],
    ["*:hung:often", "got 'often'"],
  ])("refuses `%s` with the value and the mend", (text, problem) => {
    expect(() => readFaultRules(text)).toThrow(RangeError);
    expect(() => readFaultRules(text)).toThrow(problem);
  });

  test("names everything that is wrong, not only the first", () => {
    expect(() => readFaultRules("Nope:hung,*:hang,*:hung:7")).toThrow(
      /action 'Nope'; there is no fault 'hang'.*; the chance of '\*:hung:7'/,
    );
  });

  test("explains every fault that it takes", () => {
    const explained = [...faultSyntax.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name]) => name);
    const texts = explained.map((name) => `*:${name?.replace("MS", "1")}`);

    expect(readFaultRules(texts.join(","))).toHaveLength(11);
  });
});
