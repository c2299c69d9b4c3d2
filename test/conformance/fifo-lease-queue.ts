/** What every lease queue promises beside that when it is FIFO; nothing here waits for time to pass. */

import type { Receipt } from "@leasehold/lease";
import { afterEach, describe, expect, test } from "vitest";
import type { LeaseQueueUnderTest } from "./lease-queue.ts";

/** A FIFO lease queue and the other side of it. */
export interface FifoLeaseQueueUnderTest
  extends Pick<LeaseQueueUnderTest, "queue" | "deadLetters" | "close"> {
  /** Sends to the group by its first letter; the body is the deduplication id as well. */
  send(body: string): Promise<string>;
}

const VISIBILITY_MS = 30_000;

/** Describes one adapter; `open` makes a fresh, empty queue `jobs.fifo` with a dead-letter queue. */
export function describeFifoLeaseQueue(
  adapter: string,
  open: () => Promise<FifoLeaseQueueUnderTest>,
): void {
  describe(`the FIFO lease queue on ${adapter}`, () => {
    const opened: FifoLeaseQueueUnderTest[] = [];
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    const setup = async (...sent: readonly string[]) => {
      const side = await open();
      opened.push(side);
      for (const body of sent) await side.send(body);
      const receive = (maxMessages = 10, attemptId?: string) =>
        side.queue.receive({
          ...{ maxMessages, waitMs: 0, visibilityTimeoutMs: VISIBILITY_MS },
          ...(attemptId === undefined ? {} : { attemptId }),
        });
      const release = ({ receiptHandle }: Receipt) =>
        side.queue.changeVisibility([{ receiptHandle, visibilityTimeoutMs: 0 }]);
      return { ...side, receive, release };
    };
    const bodies = (receipts: readonly Receipt[]) => receipts.map(({ message }) => message.body);

    test("says what it is", async () => {
      const { queue } = await setup();
      expect([queue.name, queue.fifo, queue.hasDeadLetterQueue]).toEqual(["jobs.fifo", true, true]);
    });

    test("receives a message with its group, its deduplication id and its number", async () => {
      const { receive } = await setup("a1");
      const [receipt] = await receive();
      expect(receipt?.message).toMatchObject({
        body: "a1",
        groupId: "a",
        deduplicationId: "a1",
        sequenceNumber: expect.stringMatching(/^\d+$/),
        receiveCount: 1,
      });
    });

    test("hands out several of a group in order, and no more of it while one is in flight", async () => {
      const { receive } = await setup("a1", "a2", "a3", "b1");
      expect(bodies(await receive(2))).toEqual(["a1", "a2"]);
      expect(bodies(await receive())).toEqual(["b1"]);
    });

    test("keeps what is released behind what is not", async () => {
      const { queue, receive, release } = await setup("a1", "a2");
      const [first, second] = (await receive()) as [Receipt, Receipt];
      expect(await release(second)).toEqual([{ kind: "ok" }]);
      expect(await receive()).toEqual([]);
      expect(await queue.delete([first.receiptHandle])).toEqual([{ kind: "ok" }]);
      const again = await receive();
      expect(bodies(again)).toEqual(["a2"]);
      expect(again[0]?.message.receiveCount).toBe(2);
    });

    test("keeps the order when the tail is released in the same call as its head", async () => {
      const { queue, receive } = await setup("a1", "a2", "a3");
      const handles = (await receive()).map(({ receiptHandle }) => receiptHandle).reverse();
      const entries = handles.map((receiptHandle) => ({ receiptHandle, visibilityTimeoutMs: 0 }));
      const answers = await queue.changeVisibility(entries);
      expect(answers.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok"]);
      expect(bodies(await receive())).toEqual(["a1", "a2", "a3"]);
    });

    test("refuses a handle that has been given back, also before somebody else has one", async () => {
      const { queue, receive, release } = await setup("a1");
      const [receipt] = (await receive()) as [Receipt];
      await release(receipt);
      expect(await queue.delete([receipt.receiptHandle])).toMatchObject([{ kind: "refused" }]);
      expect(bodies(await receive())).toEqual(["a1"]);
      expect(await queue.delete([receipt.receiptHandle])).toMatchObject([{ kind: "refused" }]);
      expect(await release(receipt)).toMatchObject([{ kind: "refused" }]);
    });

    test("deletes twice by the same handle", async () => {
      const { queue, receive } = await setup("a1");
      const [receipt] = (await receive()) as [Receipt];
      expect(await queue.delete([receipt.receiptHandle])).toEqual([{ kind: "ok" }]);
      expect(await queue.delete([receipt.receiptHandle])).toEqual([{ kind: "ok" }]);
    });

    test("hands out again what a receive took that is asked again under its id", async () => {
      const { receive } = await setup("a1", "a2");
      await receive(10, "attempt-1");
      expect(await receive(10, "attempt-2")).toEqual([]);
      const again = await receive(10, "attempt-1");
      expect(bodies(again)).toEqual(["a1", "a2"]);
      expect(again.map(({ message }) => message.receiveCount)).toEqual([1, 1]);
    });

    test("sends a copy to the dead-letter queue with its group, and one for each id", async () => {
      const { queue, deadLetters } = await setup();
      const copy = { body: "broken", attributes: {}, groupId: "a", deduplicationId: "m-1" };
      expect(await queue.deadLetter(copy)).toEqual({ kind: "ok" });
      expect(await queue.deadLetter(copy)).toEqual({ kind: "ok" });
      expect(await queue.deadLetter({ ...copy, deduplicationId: "m-2" })).toEqual({ kind: "ok" });
      const copies = await deadLetters();
      expect(copies.map(({ message }) => [message.groupId, message.deduplicationId])).toEqual([
        ["a", "m-1"],
        ["a", "m-2"],
      ]);
    });
  });
}
