import { ManualClock } from "@leasehold/clock/manual";
import { describe, expect, test } from "vitest";
import type { MessageEntry } from "../message-entry.ts";
import { type ProducerOptions, resolveProducerOptions } from "../options.ts";
import { SendBuffer } from "../send-buffer.ts";
import type { SendOutcome } from "../sqs-sender.ts";

function setup(options: ProducerOptions = {}) {
  const clock = new ManualClock();
  const calls: { readonly ids: string[]; readonly atMs: number; answer: () => void }[] = [];
  const ended: string[] = [];
  const resolved = resolveProducerOptions(options, "https://sqs.example/1/jobs");
  const sendBatch = (batch: readonly MessageEntry[]) => {
    const { promise, resolve } = Promise.withResolvers<readonly SendOutcome[]>();
    const answer = () =>
      resolve(batch.map(({ body }) => ({ kind: "sent", messageId: `m-${body}` })));
    calls.push({ ids: batch.map(({ body }) => body), atMs: clock.monotonicMs(), answer });
    return promise;
  };
  const buffer = new SendBuffer(sendBatch, resolved, clock);
  const add = (body: string, bytes = 1, groupId = "acme") =>
    buffer.add({ body, attributes: {}, groupId, bytes }, (outcome) =>
      ended.push(outcome.kind === "sent" ? outcome.messageId : outcome.kind),
    );
  const addMany = (first: number, last: number) => {
    for (let n = first; n <= last; n += 1) add(String(n));
  };
  const sizes = () => calls.map(({ ids }) => ids.length);
  return { clock, calls, ended, buffer, add, addMany, sizes };
}

describe("SendBuffer", () => {
  test("sends ten at once, without any wait", () => {
    const { calls, addMany } = setup({ lingerMs: 1_000 });

    addMany(1, 10);

    expect(calls.map(({ ids }) => ids)).toEqual([
      ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
    ]);
  });

  test("lets fewer linger, counted from the oldest", async () => {
    const { clock, calls, add } = setup({ lingerMs: 20 });
    add("a");
    await clock.advance(15);
    add("b");
    await clock.advance(4);
    expect(calls).toEqual([]);

    await clock.advance(1);

    expect(calls).toMatchObject([{ ids: ["a", "b"], atMs: 20 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("without linger sends together what comes in one turn of the loop", async () => {
    const { clock, calls, addMany, add } = setup();
    addMany(1, 3);
    await Promise.resolve();
    add("4");
    expect(calls).toEqual([]);

    await clock.settle();

    expect(calls.map(({ ids }) => ids)).toEqual([["1", "2", "3", "4"]]);
  });

  test("gathers while all calls are open, and goes on as soon as one has ended", async () => {
    const { clock, calls, ended, addMany, sizes } = setup({ parallelCalls: 2 });
    addMany(1, 25);
    await clock.settle();
    expect(sizes()).toEqual([10, 10]);

    addMany(26, 33);
    calls[0]?.answer();
    await clock.settle();
    expect(sizes()).toEqual([10, 10, 10]);
    expect(ended).toHaveLength(10);

    calls[1]?.answer();
    await clock.settle();
    expect(sizes()).toEqual([10, 10, 10, 3]);
  });

  test("does not wait for company that no longer fits", () => {
    const { calls, add } = setup({ lingerMs: 1_000 });

    add("a", 700_000);
    add("b", 700_000);

    expect(calls.map(({ ids }) => ids)).toEqual([["a"]]);
  });

  test("on FIFO lets a group's second entry close the batch, and only one call be open", async () => {
    const { clock, calls, add } = setup({ fifo: true, lingerMs: 50 });
    add("a1", 1, "a");
    add("b1", 1, "b");
    add("a2", 1, "a");
    add("a3", 1, "a");
    await clock.settle();
    expect(calls.map(({ ids }) => ids)).toEqual([["a1", "b1"]]);

    calls[0]?.answer();
    await clock.settle();
    expect(calls.map(({ ids }) => ids)).toEqual([["a1", "b1"], ["a2"]]);

    calls[1]?.answer();
    await clock.advance(50);
    expect(calls.map(({ ids }) => ids)).toEqual([["a1", "b1"], ["a2"], ["a3"]]);
  });

  test("hurries what lingers already and what comes until the hurry is over", async () => {
    const { clock, calls, buffer, add } = setup({ lingerMs: 1_000 });
    const { promise, resolve } = Promise.withResolvers<string>();
    add("a");

    const hurried = buffer.hurry(promise);
    await clock.settle();
    add("b");
    await clock.settle();
    resolve("done");
    expect(await hurried).toBe("done");
    add("c");
    await clock.settle();

    expect(calls.map(({ ids }) => ids)).toEqual([["a"], ["b"]]);
    await clock.advance(1_000);
    expect(calls.map(({ ids }) => ids)).toEqual([["a"], ["b"], ["c"]]);
  });

  test("drops what waits, and says when the open calls have ended", async () => {
    const { clock, calls, ended, buffer, addMany, sizes } = setup({
      parallelCalls: 1,
      lingerMs: 10,
    });
    addMany(1, 15);
    let isDropped = false;
    const dropped = buffer.drop().then(() => {
      isDropped = true;
    });
    await clock.advance(100);
    expect(isDropped).toBe(false);

    calls[0]?.answer();
    await dropped;
    await clock.advance(100);

    expect(ended).toHaveLength(10);
    expect(sizes()).toEqual([10]);
    expect(clock.pendingTimers).toBe(0);
  });
});
