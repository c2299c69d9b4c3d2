/** What every lease queue promises, whatever it stands on; nothing here waits for time to pass. */

import {
  ClaimFailedError,
  type LeaseQueue,
  type MessageAttribute,
  type Receipt,
} from "@leasehold/lease";
import { afterEach, describe, expect, test } from "vitest";

/** A lease queue and the other side of it. */
export interface LeaseQueueUnderTest {
  readonly queue: LeaseQueue;
  send(body: string, attributes?: Readonly<Record<string, SentAttribute>>): Promise<string>;
  deadLetters(): Promise<readonly Receipt[]>;
  /** Deletes the queue on the other side. */
  remove(): Promise<void>;
  close(): Promise<void>;
}

/** An attribute in SQS's own words. */
export interface SentAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: Uint8Array;
}

function bytesOf(attribute: MessageAttribute | undefined): readonly number[] {
  return attribute?.value instanceof Uint8Array ? [...attribute.value] : [];
}

const GARBAGE = "no-handle-of-any-message";
const VISIBILITY_MS = 30_000;

/** Describes one adapter; `open` makes a fresh, empty queue named `jobs` with a dead-letter queue. */
export function describeLeaseQueue(
  adapter: string,
  open: () => Promise<LeaseQueueUnderTest>,
): void {
  describe(`the lease queue on ${adapter}`, () => {
    const opened: LeaseQueueUnderTest[] = [];
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    const setup = async () => {
      const side = await open();
      opened.push(side);
      const receive = (maxMessages = 10) =>
        side.queue.receive({ maxMessages, waitMs: 0, visibilityTimeoutMs: VISIBILITY_MS });
      const receiveOne = async () => (await receive(1))[0] as Receipt;
      const handles = async (count: number) => {
        for (let sent = 0; sent < count; sent += 1) await side.send(`${sent}`);
        return (await receive()).map(({ receiptHandle }) => receiptHandle);
      };
      return { ...side, receive, receiveOne, handles };
    };

    test("says what it is", async () => {
      const { queue } = await setup();
      const { name, fifo, hasDeadLetterQueue } = queue;
      expect({ name, fifo, hasDeadLetterQueue }).toEqual({
        name: "jobs",
        fifo: false,
        hasDeadLetterQueue: true,
      });
    });

    test("receives nothing from an empty queue", async () => {
      const { receive } = await setup();
      expect(await receive()).toEqual([]);
    });

    test("receives a message with all that it has", async () => {
      const { send, receiveOne } = await setup();
      const bytes = new Uint8Array([0, 1, 254, 255]);
      const messageId = await send('{"é":"😀"}', {
        tenant_id: { DataType: "String", StringValue: "acme" },
        size: { DataType: "Number.int", StringValue: "12" },
        raw: { DataType: "Binary", BinaryValue: bytes },
      });
      const { message, receiptHandle } = await receiveOne();

      expect(receiptHandle).not.toBe("");
      expect(message).toEqual({
        messageId,
        body: '{"é":"😀"}',
        attributes: {
          tenant_id: { dataType: "String", value: "acme" },
          size: { dataType: "Number.int", value: "12" },
          raw: { dataType: "Binary", value: expect.anything() },
        },
        receiveCount: 1,
        sentAtMs: expect.any(Number),
      });
      expect(bytesOf(message.attributes["raw"])).toEqual([0, 1, 254, 255]);
      expect(message.sentAtMs).toBeGreaterThan(1_600_000_000_000);
    });

    test("hides what it has handed out, and hands out no more than was asked for", async () => {
      const { send, receive } = await setup();
      for (const body of ["1", "2", "3"]) await send(body);
      expect(await receive(2)).toHaveLength(2);
      expect(await receive(10)).toHaveLength(1);
      expect(await receive(10)).toEqual([]);
    });

    test("ends a long poll with a message as soon as there is one", async () => {
      const { queue, send } = await setup();
      const poll = queue.receive({
        maxMessages: 1,
        waitMs: 20_000,
        visibilityTimeoutMs: VISIBILITY_MS,
      });
      await send("late");
      expect((await poll)[0]?.message.body).toBe("late");
    });

    test("ends a long poll at once when its signal aborts", async () => {
      const { queue } = await setup();
      const shutdown = new AbortController();
      const poll = queue
        .receive({
          maxMessages: 1,
          waitMs: 20_000,
          visibilityTimeoutMs: VISIBILITY_MS,
          signal: shutdown.signal,
        })
        .catch((error) => error);
      shutdown.abort();
      const error = await poll;
      expect(error).toBeInstanceOf(ClaimFailedError);
      expect(error).toMatchObject({ reason: "AbortError", retryable: true });
    });

    test("makes a message visible again, which costs a receive", async () => {
      const { queue, send, receiveOne } = await setup();
      await send("again");
      const { receiptHandle } = await receiveOne();
      const answers = await queue.changeVisibility([{ receiptHandle, visibilityTimeoutMs: 0 }]);
      expect(answers).toEqual([{ kind: "ok" }]);

      const again = await receiveOne();
      expect(again.message.receiveCount).toBe(2);
      expect(again.receiptHandle).not.toBe(receiptHandle);
    });

    test("extends ten messages in one call", async () => {
      const { queue, handles } = await setup();
      const answers = await queue.changeVisibility(
        (await handles(10)).map((receiptHandle) => ({
          receiptHandle,
          visibilityTimeoutMs: 60_000,
        })),
      );
      expect(answers).toEqual(Array(10).fill({ kind: "ok" }));
    });

    test("answers a change of visibility entry by entry, in order", async () => {
      const { queue, handles } = await setup();
      const [first = "", second = ""] = await handles(2);
      const entry = (receiptHandle: string) => ({ receiptHandle, visibilityTimeoutMs: 60_000 });
      const answers = await queue.changeVisibility([first, GARBAGE, second].map(entry));
      expect(answers.map(({ kind }) => kind)).toEqual(["ok", "refused", "ok"]);
    });

    test("refuses what would go beyond twelve hours, and only that", async () => {
      const { queue, handles } = await setup();
      const [first = "", second = ""] = await handles(2);
      const answers = await queue.changeVisibility([
        { receiptHandle: first, visibilityTimeoutMs: 43_201_000 },
        { receiptHandle: second, visibilityTimeoutMs: 60_000 },
      ]);
      expect(answers.map(({ kind }) => kind)).toEqual(["refused", "ok"]);
    });

    test("deletes, and refuses the handle for everything but another delete", async () => {
      const { queue, receive, handles } = await setup();
      const [receiptHandle = ""] = await handles(1);
      expect(await queue.delete([receiptHandle])).toEqual([{ kind: "ok" }]);
      expect(await queue.delete([receiptHandle])).toEqual([{ kind: "ok" }]);
      const [changed] = await queue.changeVisibility([{ receiptHandle, visibilityTimeoutMs: 0 }]);
      expect(changed?.kind).toBe("refused");
      expect(await receive()).toEqual([]);
    });

    test("answers a delete entry by entry, in order, also for the same handle twice (squiss-ts 26; redpanda connect 182)", async () => {
      const { queue, handles } = await setup();
      const [first = "", second = ""] = await handles(2);
      const answers = await queue.delete([first, GARBAGE, second, first]);
      expect(answers.map(({ kind }) => kind)).toEqual(["ok", "refused", "ok", "ok"]);
    });

    test("sends a copy to the dead-letter queue as it is", async () => {
      const { queue, deadLetters } = await setup();
      const answer = await queue.deadLetter({
        body: "broken",
        attributes: {
          dead_letter_reason: { dataType: "String", value: "malformed" },
          raw: { dataType: "Binary", value: new Uint8Array([7]) },
        },
      });
      expect(answer).toEqual({ kind: "ok" });
      const [copy] = await deadLetters();
      expect(copy?.message.body).toBe("broken");
      expect(copy?.message.attributes["dead_letter_reason"]).toEqual({
        dataType: "String",
        value: "malformed",
      });
      expect(bytesOf(copy?.message.attributes["raw"])).toEqual([7]);
    });

    test("refuses a copy that SQS will never take", async () => {
      const { queue } = await setup();
      const answer = await queue.deadLetter({ body: "\u0000", attributes: {} });
      expect(answer).toEqual({ kind: "refused", code: "InvalidMessageContents" });
    });

    test("tells a queue that is gone from one that has a bad moment", async () => {
      const { queue, remove, receive, handles } = await setup();
      const [receiptHandle = ""] = await handles(1);
      await remove();
      await expect(receive()).rejects.toMatchObject({
        code: "CLAIM_FAILED",
        reason: "QueueDoesNotExist",
        retryable: false,
      });
      const gone = { kind: "refused", code: "QueueDoesNotExist" };
      expect(await queue.delete([receiptHandle])).toEqual([gone]);
      const change = { receiptHandle, visibilityTimeoutMs: 0 };
      expect(await queue.changeVisibility([change])).toEqual([gone]);
    });
  });
}
