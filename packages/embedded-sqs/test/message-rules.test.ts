import type { ActionInput } from "@leasehold/embedded-sqs";
import { describe, expect, test } from "vitest";
import { only, resultOf, setupAccount } from "./account-setup.ts";

type Send = Partial<ActionInput<"SendMessage">>;

const ONE_MIB = 1_048_576;
const text = (StringValue: string) => ({ DataType: "String", StringValue });
const attribute = (name: string, value: object): Send => ({ MessageAttributes: { [name]: value } });
const many = (count: number): Send => ({
  MessageAttributes: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`a${index}`, text("x")]),
  ),
});

describe("a message", () => {
  test.each<[string, string, Send, string]>([
    ["without a body", "", {}, "MissingParameter"],
    ["of exactly 1 MiB", "x".repeat(ONE_MIB), {}, "ok"],
    ["of one byte more", "x".repeat(ONE_MIB + 1), {}, "InvalidParameterValue"],
    ["of 1 MiB with its attribute", "x".repeat(ONE_MIB - 10), attribute("abc", text("d")), "ok"],
    [
      "that only its attribute makes too long",
      "x".repeat(ONE_MIB - 9),
      attribute("abc", text("d")),
      "InvalidParameterValue",
    ],
    ["measured in bytes, not in characters", "é".repeat(524_289), {}, "InvalidParameterValue"],
    ["with an emoji", "😀", {}, "ok"],
    ["with tab and line ends", "\t\r\n", {}, "ok"],
    ["with a NUL", "a\u0000b", {}, "InvalidMessageContents"],
    ["with a lone surrogate", "a\uD800b", {}, "InvalidMessageContents"],
    ["with U+FFFF", "a\uFFFFb", {}, "InvalidMessageContents"],
    ["with ten attributes", "x", many(10), "ok"],
    ["with eleven attributes", "x", many(11), "InvalidParameterValue"],
    ["with an empty value", "x", attribute("a", text("")), "InvalidParameterValue"],
    [
      "with an attribute without type",
      "x",
      attribute("a", { StringValue: "v" }),
      "InvalidParameterValue",
    ],
    [
      "with an unknown type",
      "x",
      attribute("a", { DataType: "Date", StringValue: "v" }),
      "InvalidParameterValue",
    ],
    [
      "with a custom type",
      "x",
      attribute("a", { DataType: "String.date", StringValue: "v" }),
      "ok",
    ],
    ["with a number", "x", attribute("a", { DataType: "Number", StringValue: "-1.5e3" }), "ok"],
    [
      "with a number that is none",
      "x",
      attribute("a", { DataType: "Number", StringValue: "1a" }),
      "InvalidParameterValue",
    ],
    [
      "with text for a binary",
      "x",
      attribute("a", { DataType: "Binary", StringValue: "v" }),
      "InvalidParameterValue",
    ],
    ["with a NUL in an attribute", "x", attribute("a", text("\u0000")), "InvalidMessageContents"],
    ["with a name of AWS", "x", attribute("AWS.a", text("v")), "InvalidParameterValue"],
    [
      "with a name that begins with a period",
      "x",
      attribute(".a", text("v")),
      "InvalidParameterValue",
    ],
    [
      "with a name that ends with a period",
      "x",
      attribute("a.", text("v")),
      "InvalidParameterValue",
    ],
    [
      "with two periods in a row in a name",
      "x",
      attribute("a..b", text("v")),
      "InvalidParameterValue",
    ],
    ["with a space in a name", "x", attribute("a b", text("v")), "InvalidParameterValue"],
    [
      "with a name of 257 characters",
      "x",
      attribute("a".repeat(257), text("v")),
      "InvalidParameterValue",
    ],
    [
      "with a foreign system attribute",
      "x",
      { MessageSystemAttributes: { Other: text("v") } },
      "InvalidParameterValue",
    ],
    ["with a group of 128 characters", "x", { MessageGroupId: "g".repeat(128) }, "ok"],
    [
      "with a group of 129 characters",
      "x",
      { MessageGroupId: "g".repeat(129) },
      "InvalidParameterValue",
    ],
    ["with a space in its group", "x", { MessageGroupId: "a b" }, "InvalidParameterValue"],
    ["with a delay of 900 s", "x", { DelaySeconds: 900 }, "ok"],
    ["with a delay of 901 s", "x", { DelaySeconds: 901 }, "InvalidParameterValue"],
    ["with a negative delay", "x", { DelaySeconds: -1 }, "InvalidParameterValue"],
  ])("%s", async (_what, body, more, expected) => {
    const q = await setupAccount().queue("jobs");

    expect(await resultOf(q.send(body, more))).toBe(expected);
  });

  test("is measured by its queue's own limit", async () => {
    const q = await setupAccount().queue("jobs", { MaximumMessageSize: "1024" });

    expect(await resultOf(q.send("x".repeat(1_024)))).toBe("ok");
    expect(await resultOf(q.send("x".repeat(1_025)))).toBe("InvalidParameterValue");
  });

  test("shows only the attributes that a receive asks for, by name or prefix", async () => {
    const q = await setupAccount().queue("jobs");
    await q.send("x", {
      MessageAttributes: { tenant_id: text("t"), "trace.id": text("1"), "trace.state": text("2") },
      MessageSystemAttributes: { AWSTraceHeader: text("Root=1") },
    });
    const shown = async (
      MessageAttributeNames: string[],
      MessageSystemAttributeNames: string[],
    ) => {
      const names = { MessageAttributeNames, MessageSystemAttributeNames };
      const message = only(await q.receive({ VisibilityTimeout: 0, ...names }));
      return [Object.keys(message.MessageAttributes ?? {}), message.Attributes];
    };

    expect(await shown([], [])).toEqual([[], undefined]);
    expect(await shown(["tenant_id"], ["AWSTraceHeader"])).toEqual([
      ["tenant_id"],
      { AWSTraceHeader: "Root=1" },
    ]);
    expect(await shown(["trace.*"], [])).toEqual([["trace.id", "trace.state"], undefined]);
    expect(await shown([".*"], [])).toEqual([["tenant_id", "trace.id", "trace.state"], undefined]);
    expect(await resultOf(q.receive({ MessageSystemAttributeNames: ["Nope"] }))).toBe(
      "InvalidAttributeName",
    );
  });

  test.each<[string, Partial<ActionInput<"ReceiveMessage">>]>([
    ["no messages", { MaxNumberOfMessages: 0 }],
    ["eleven messages", { MaxNumberOfMessages: 11 }],
    ["a wait of 21 s", { WaitTimeSeconds: 21 }],
    ["a visibility of 43,201 s", { VisibilityTimeout: 43_201 }],
    ["an attempt id with a space", { ReceiveRequestAttemptId: "a b" }],
  ])("is not received by a request for %s", async (_what, more) => {
    const q = await setupAccount().queue("jobs");

    expect(await resultOf(q.receive(more))).toBe("InvalidParameterValue");
  });
});

describe("a batch", () => {
  async function setup() {
    const { account, queue } = setupAccount();
    const { QueueUrl } = await queue("jobs");
    return (Entries: { Id?: string; MessageBody: string; DelaySeconds?: number }[]) =>
      account.perform("SendMessageBatch", { QueueUrl, Entries });
  }
  const entry = (Id: string) => ({ Id, MessageBody: "x" });

  test("answers each entry by itself", async () => {
    const send = await setup();
    const result = await send([entry("a"), { ...entry("b"), DelaySeconds: 901 }, entry("c")]);

    expect(result.Successful.map(({ Id }) => Id)).toEqual(["a", "c"]);
    expect(result.Failed).toEqual([
      {
        Id: "b",
        Code: "InvalidParameterValue",
        Message:
          "Value 901 for parameter DelaySeconds is invalid. Reason: Must be between 0 and 900, if provided.",
        SenderFault: true,
      },
    ]);
  });

  test.each([
    ["empty", [], "EmptyBatchRequest"],
    [
      "of eleven",
      Array.from({ length: 11 }, (_, i) => entry(`i${i}`)),
      "TooManyEntriesInBatchRequest",
    ],
    ["with an id twice", [entry("a"), entry("a")], "BatchEntryIdsNotDistinct"],
    ["with an id of 80 characters", [entry("a".repeat(80))], "ok"],
    ["with an id of 81 characters", [entry("a".repeat(81))], "InvalidBatchEntryId"],
    ["with a period in an id", [entry("a.b")], "InvalidBatchEntryId"],
    ["without an id", [{ MessageBody: "x" }], "InvalidBatchEntryId"],
    [
      "of more than 1 MiB in all",
      ["a", "b"].map((Id) => ({ Id, MessageBody: "x".repeat(524_289) })),
      "BatchRequestTooLong",
    ],
  ])("%s", async (_what, entries, expected) => {
    const send = await setup();

    expect(await resultOf(send(entries))).toBe(expected);
  });
});
