import { deadLetterCopy, type ReceivedMessage } from "@leasehold/lease";
import { describe, expect, test } from "vitest";

const MEBIBYTE = 1_048_576;
const reason = { code: "attempts-exhausted", detail: "failed 5 times" };
const source = { queueName: "jobs", fifo: false };

function message(parts: Partial<ReceivedMessage> = {}): ReceivedMessage {
  return {
    messageId: "m-1",
    body: '{"v":1}',
    attributes: { tenant_id: { dataType: "String", value: "acme" } },
    receiveCount: 3,
    sentAtMs: 0,
    ...parts,
  };
}

function attributes(count: number, prefix = "a"): ReceivedMessage["attributes"] {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return Object.fromEntries(names.map((name) => [name, { dataType: "String", value: "x" }]));
}

describe("deadLetterCopy", () => {
  test("carries all that the message had, and where it comes from and why (message-queue-toolkit (measured))", () => {
    const copy = deadLetterCopy(
      message({ groupId: "acme", traceHeader: "Root=1-2-3" }),
      reason,
      source,
    );
    expect(copy).toEqual({
      body: '{"v":1}',
      groupId: "acme",
      traceHeader: "Root=1-2-3",
      attributes: {
        tenant_id: { dataType: "String", value: "acme" },
        dead_letter_reason: { dataType: "String", value: "attempts-exhausted" },
        dead_letter_detail: { dataType: "String", value: "failed 5 times" },
        dead_letter_source: {
          dataType: "String.json",
          value: '{"queue":"jobs","message_id":"m-1","receive_count":3}',
        },
      },
    });
  });

  test("says how it came to that in numbers, when there are any", () => {
    const counts = { failures: 5, crashes: 1 };
    const copy = deadLetterCopy(message(), { ...reason, counts }, source);
    expect(copy.attributes["dead_letter_source"]?.value).toBe(
      '{"queue":"jobs","message_id":"m-1","receive_count":3,"counts":{"failures":5,"crashes":1}}',
    );
  });

  test("of a FIFO message is a new message at every receive", () => {
    const copy = deadLetterCopy(message({ deduplicationId: "job-1" }), reason, {
      queueName: "jobs.fifo",
      fifo: true,
    });
    expect(copy.deduplicationId).toBe("m-1-3");
  });

  test("remembers earlier reasons when a message was redriven and failed again", () => {
    const first = deadLetterCopy(message(), reason, source);
    const second = deadLetterCopy(
      message({ messageId: "m-2", attributes: first.attributes }),
      { code: "permanent", detail: "no such invoice" },
      source,
    );
    const third = deadLetterCopy(
      message({ messageId: "m-3", attributes: second.attributes }),
      { code: "malformed", detail: "?" },
      source,
    );
    expect(third.attributes["dead_letter_reason"]?.value).toBe("malformed");
    expect(JSON.parse(String(third.attributes["dead_letter_history"]?.value))).toEqual([
      {
        reason: "attempts-exhausted",
        source: { queue: "jobs", message_id: "m-1", receive_count: 3 },
      },
      { reason: "permanent", source: { queue: "jobs", message_id: "m-2", receive_count: 3 } },
    ]);
  });

  test.each([
    ["a history", { dead_letter_history: `${"[".repeat(200_000)}${"]".repeat(200_000)}` }],
    [
      "a source",
      {
        dead_letter_reason: "permanent",
        dead_letter_source: `${"[".repeat(200_000)}${"]".repeat(200_000)}`,
      },
    ],
  ])("is made although somebody wrote %s that nests without end", (_, texts) => {
    const attributes = Object.fromEntries(
      Object.entries(texts).map(([name, value]) => [name, { dataType: "String", value }]),
    );
    const copy = deadLetterCopy(message({ attributes }), reason, source);
    expect(copy.attributes["dead_letter_reason"]?.value).toBe("attempts-exhausted");
  });

  test("takes over nothing but reason and source from a history that it did not write", () => {
    const history = [
      7,
      null,
      { reason: { deep: [] } },
      { reason: "x".repeat(1_000), source: [], more: "theirs" },
      { reason: "permanent", source: { queue: "q", message_id: "m", receive_count: 2, more: 1 } },
    ];
    const value = JSON.stringify(history);
    const attributes = { dead_letter_history: { dataType: "String", value } };
    const copy = deadLetterCopy(message({ attributes }), reason, source);
    expect(JSON.parse(String(copy.attributes["dead_letter_history"]?.value))).toEqual([
      { reason: "x".repeat(512) },
      { reason: "permanent", source: { queue: "q", message_id: "m", receive_count: 2 } },
    ]);
  });

  test("drops history first, then tracestate, then its detail, to stay within ten attributes", () => {
    const past = {
      dead_letter_reason: { dataType: "String", value: "permanent" },
      tracestate: { dataType: "String", value: "a=b" },
    };
    const names = (own: number) => {
      const copy = deadLetterCopy(
        message({ attributes: { ...attributes(own), ...past } }),
        reason,
        source,
      );
      return Object.keys(copy.attributes).filter((name) => !name.startsWith("a"));
    };
    const [detail, history, origin, why] = ["detail", "history", "source", "reason"].map(
      (name) => `dead_letter_${name}`,
    );
    expect(names(5).sort()).toEqual([detail, history, why, origin, "tracestate"]);
    expect(names(6).sort()).toEqual([detail, why, origin, "tracestate"]);
    expect(names(7).sort()).toEqual([detail, why, origin]);
    expect(names(8).sort()).toEqual([why, origin]);
    expect(names(9)).toEqual([why]);
  });

  test("keeps the message itself whatever happens", () => {
    const full = message({ attributes: attributes(10) });
    expect(deadLetterCopy(full, reason, source).attributes).toEqual(full.attributes);
  });

  test("counts names, types and values into the one mebibyte, and multi-byte text as bytes", () => {
    const room = 150;
    const body = "é".repeat((MEBIBYTE - room) / 2);
    const copy = deadLetterCopy(message({ body, attributes: {} }), reason, source);
    const bytes = Object.entries(copy.attributes).reduce(
      (sum, [name, { dataType, value }]) => sum + name.length + dataType.length + value.length,
      Buffer.byteLength(body),
    );
    expect(bytes).toBeLessThanOrEqual(MEBIBYTE);
    expect(Object.keys(copy.attributes)).toEqual(["dead_letter_reason", "dead_letter_source"]);
    expect(copy.body).toBe(body);
  });

  test("of a message of exactly one mebibyte is that message", () => {
    const body = "x".repeat(MEBIBYTE);
    expect(deadLetterCopy(message({ body, attributes: {} }), reason, source)).toEqual({
      body,
      attributes: {},
    });
  });

  test("writes nothing that SQS refuses", () => {
    const copy = deadLetterCopy(
      message(),
      { code: "malformed", detail: "at \u0000 and \ud800 and \ufffe, 😀" },
      source,
    );
    expect(copy.attributes["dead_letter_detail"]?.value).toBe("at � and � and �, 😀");
    const empty = deadLetterCopy(message(), { code: "malformed", detail: "" }, source);
    expect(empty.attributes["dead_letter_detail"]?.value).toBe("-");
  });
});
