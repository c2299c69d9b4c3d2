import { describe, expect, test } from "vitest";
import type { BadMessage, Mark } from "./bad-message.ts";
import { corpus } from "./corpus.ts";
import { envelope, foreignAttributes, MARKER, MEBIBYTE, text } from "./envelopes.ts";
import { type DeadLetter, startTrial, type Trial } from "./trial.ts";

const TEN_SECONDS_MS = 10_000;
const HOUR_MS = 3_600_000;
const ALL_MARKS: readonly Mark[] = ["reason", "detail", "source"];
const LONGEST_DETAIL_CHARACTERS = 512;

const all = Object.values(corpus).flat();

async function sendAndWait(message: BadMessage, trial: Trial) {
  const messageId = await trial.sendRaw(message);
  await trial.clock.advance(TEN_SECONDS_MS);
  return messageId;
}

/** Whatever has come before, the worker is alive: a good job is done. */
async function expectAlive(trial: Trial) {
  const messageId = await trial.sendRaw({ body: envelope() });
  await trial.clock.advance(3_000);
  expect(trial.isDeleted(messageId)).toBe(true);
}

function expectNothingLeaked(trial: Trial) {
  expect(trial.allSaid()).not.toContain(MARKER);
  expect(trial.allSaid()).toContain("lease.claimed");
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
  for (const payload of trial.handled) {
    expect((payload as { polluted?: unknown }).polluted).toBeUndefined();
    expect((payload.open as { polluted?: unknown } | undefined)?.polluted).toBeUndefined();
  }
}

/** The copy is the message as it was sent, and its marks say why and where it was. */
function expectCopy(
  copy: DeadLetter | undefined,
  sent: BadMessage & { readonly messageId: string },
  word: string,
  marks: readonly Mark[],
) {
  const { marked, kept } = separateMarks(copy?.MessageAttributes);
  expect(copy?.Body === sent.body).toBe(true);
  expect(kept).toEqual(separateMarks(sent.attributes).kept);
  expect(copy?.Attributes?.["MessageGroupId"]).toBe(sent.groupId);
  expect(Object.keys(marked).sort()).toEqual(marks.map((mark) => `dead_letter_${mark}`).sort());
  if (marks.includes("reason")) expect(marked["dead_letter_reason"]).toBe("malformed");
  if (marks.includes("detail")) {
    expect(marked["dead_letter_detail"]).toMatch(new RegExp(`^${word}: .`));
    expect(marked["dead_letter_detail"]?.length).toBeLessThanOrEqual(LONGEST_DETAIL_CHARACTERS);
    expect(marked["dead_letter_detail"]).not.toContain(MARKER);
  }
  if (marks.includes("source")) {
    expect(JSON.parse(marked["dead_letter_source"] ?? "")).toEqual({
      queue: "jobs",
      message_id: sent.messageId,
      receive_count: 1,
    });
  }
}

function separateMarks(attributes: DeadLetter["MessageAttributes"] = {}) {
  const entries = Object.entries(attributes);
  const isMark = (name: string) => name.startsWith("dead_letter_");
  return {
    marked: Object.fromEntries(
      entries
        .filter(([name]) => isMark(name))
        .map(([name, { StringValue }]) => [name, StringValue]),
    ),
    kept: Object.fromEntries(
      entries
        .filter(([name]) => !isMark(name))
        .map(([name, { DataType, ...value }]) => [
          name,
          [DataType, value.StringValue ?? Buffer.from(value.BinaryValue ?? []).toString("hex")],
        ]),
    ),
  };
}

describe.each(Object.entries(corpus))("%s", (_, messages) => {
  test.each(messages.map((message) => [message.name, message] as const))(
    "ends where it belongs: %s",
    async (_, message) => {
      const { expected } = message;
      const trial = await startTrial();
      const messageId = await sendAndWait(message, trial);

      const deadLetters = await trial.deadLetters();
      expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(3);
      switch (expected.end) {
        case "acked":
          expect(trial.handled).toHaveLength(1);
          expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
          expect(trial.isDeleted(messageId)).toBe(true);
          expect(deadLetters).toEqual([]);
          break;
        case "dead-lettered":
          expect(trial.handled).toEqual([]);
          expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
          expect(trial.isDeleted(messageId)).toBe(true);
          expect(deadLetters).toHaveLength(1);
          expectCopy(
            deadLetters[0],
            { ...message, messageId },
            expected.word,
            expected.marks ?? ALL_MARKS,
          );
          break;
        case "waiting":
          expect(trial.handled).toEqual([]);
          expect(trial.hiddenForSeconds(messageId)).toEqual([5, 10]);
          expect(trial.isDeleted(messageId)).toBe(false);
          expect(trial.queue.counts()).toMatchObject({ visible: 0, inFlight: 1 });
          expect(deadLetters).toEqual([]);
          break;
      }
      await expectAlive(trial);
      expectNothingLeaked(trial);
    },
  );
});

describe("the whole corpus at once", () => {
  test("is sorted by one worker, and a good job behind it is done", async () => {
    const trial = await startTrial();
    const sent = await sendAll(trial, all);
    const goodId = await trial.sendRaw({ body: envelope() });
    await trial.clock.advance(TEN_SECONDS_MS);

    expect(trial.isDeleted(goodId)).toBe(true);
    for (const { messageId, message } of sent) {
      const isGone = message.expected.end !== "waiting";
      expect([message.name, trial.isDeleted(messageId)]).toEqual([message.name, isGone]);
      expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(3);
    }
    const ends = (end: string) => all.filter(({ expected }) => expected.end === end).length;
    expect(await trial.deadLetters()).toHaveLength(ends("dead-lettered"));
    expect(trial.handled).toHaveLength(ends("acked") + 1);
    expect(trial.queue.counts()).toMatchObject({ visible: 0, inFlight: ends("waiting") });
    expectNothingLeaked(trial);
  });

  test("waits in its queue where there is no dead-letter queue, ever longer", async () => {
    const trial = await startTrial(undefined, { queue: { hasDeadLetterQueue: false } });
    const turnedAway = all.filter(({ expected }) => expected.end !== "acked");
    const sent = await sendAll(trial, turnedAway);

    await trial.clock.advance(TEN_SECONDS_MS);
    for (const { messageId } of sent) {
      expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(3);
    }
    await trial.clock.advance(HOUR_MS - TEN_SECONDS_MS);
    for (const { messageId } of sent) {
      expect(trial.hiddenForSeconds(messageId)).toEqual([
        5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900,
      ]);
    }
    expect(trial.queue.counts()).toMatchObject({ visible: 0, inFlight: turnedAway.length });
    expect(trial.handled).toEqual([]);
    await expectAlive(trial);
    expectNothingLeaked(trial);
  });
});

describe("a job of another release", () => {
  const waiting = all.filter(({ expected }) => expected.end === "waiting");
  const reasons = waiting.map(({ expected }) => "reason" in expected && expected.reason);

  test("is dead-lettered when no worker that knows it has come within the grace", async () => {
    const contract = { worker: { unknownTypeGraceMs: 60_000 } };
    const trial = await startTrial(undefined, { contract });
    const sent = await sendAll(trial, waiting);

    await trial.clock.advance(60_000);
    expect(await trial.deadLetters()).toEqual([]);
    await trial.clock.advance(60_000);

    const copies = await trial.deadLetters();
    for (const [index, { messageId, message }] of sent.entries()) {
      expect(trial.hiddenForSeconds(messageId)).toEqual([5, 10, 20, 40]);
      const copy = copies.find(({ MessageAttributes }) =>
        MessageAttributes?.["dead_letter_source"]?.StringValue?.includes(messageId),
      );
      expect(copy?.Body).toBe(message.body);
      expect(copy?.MessageAttributes?.["dead_letter_reason"]?.StringValue).toBe(reasons[index]);
    }
    expect(copies).toHaveLength(7);
    await expectAlive(trial);
    expectNothingLeaked(trial);
  });

  test("that lay in the queue beyond the grace is dead-lettered at first sight", async () => {
    const trial = await startTrial();
    trial.worker.pause();
    await trial.clock.advance(3_000);
    const messageId = await trial.sendRaw({ body: envelope({ type: "receipt.fax" }) });
    await trial.clock.advance(HOUR_MS + 1_000);
    trial.worker.resume();
    await trial.clock.advance(3_000);

    expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
    const [copy] = await trial.deadLetters();
    expect(copy?.MessageAttributes?.["dead_letter_reason"]?.StringValue).toBe("unknown-type");
  });
});

describe("a dead-letter queue that takes no copy", () => {
  test.each([
    ["it takes smaller messages only", "too small"],
    ["it is gone", "gone"],
  ])("leaves the message in its queue, without a hot loop: %s", async (_, how) => {
    const trial = await startTrial();
    const { account } = trial.queue;
    const { QueueUrl } = await account.perform("GetQueueUrl", { QueueName: "jobs-dlq" });
    if (how === "gone") await account.perform("DeleteQueue", { QueueUrl });
    else {
      const Attributes = { MaximumMessageSize: "1024" };
      await account.perform("SetQueueAttributes", { QueueUrl, Attributes });
    }
    const messageId = await trial.sendRaw({ body: `{${MARKER.repeat(100)}` });

    await trial.clock.advance(TEN_SECONDS_MS);
    expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(3);
    await trial.clock.advance(50_000);
    expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(7);
    expect(trial.isDeleted(messageId)).toBe(false);
    const { visible, inFlight } = trial.queue.counts();
    expect(visible + inFlight).toBe(1);
    await expectAlive(trial);
    expectNothingLeaked(trial);
  });
});

describe("what cannot lie in a queue, because SQS refuses it at the door", () => {
  test.each([
    ["an empty body", { body: "" }, "MissingParameter"],
    ["NUL in a body", { body: "a\u0000b" }, "InvalidMessageContents"],
    ["U+FFFE in a body", { body: "a\ufffe" }, "InvalidMessageContents"],
    ["half a surrogate pair, raw", { body: "a\ud800" }, "InvalidMessageContents"],
    ["one byte over 1 MiB", { body: "x".repeat(MEBIBYTE + 1) }, "InvalidParameterValue"],
    [
      "1 MiB and an attribute",
      { body: "x".repeat(MEBIBYTE), attributes: { a: text("b") } },
      "InvalidParameterValue",
    ],
    [
      "eleven attributes",
      { body: "{", attributes: foreignAttributes(11) },
      "InvalidParameterValue",
    ],
    [
      "an attribute without a value",
      { body: "{", attributes: { a: text("") } },
      "InvalidParameterValue",
    ],
    [
      "an attribute name of AWS's own",
      { body: "{", attributes: { "aws.a": text("b") } },
      "InvalidParameterValue",
    ],
    [
      "a Number that is none",
      { body: "{", attributes: { a: text("b", "Number") } },
      "InvalidParameterValue",
    ],
  ])("%s", async (_, message, code) => {
    const trial = await startTrial();
    await expect(trial.sendRaw(message)).rejects.toMatchObject({ errorName: code });
    expect(trial.queue.counts()).toMatchObject({ visible: 0, inFlight: 0 });
  });
});

async function sendAll(trial: Trial, messages: readonly BadMessage[]) {
  const ids = await Promise.all(messages.map((message) => trial.sendRaw(message)));
  return messages.map((message, index) => ({ message, messageId: ids[index] as string }));
}
