import { describe, expect, test } from "vitest";
import { envelope, MARKER } from "./envelopes.ts";
import { strangeHandlers } from "./strange-handlers.ts";
import { type Handler, startTrial } from "./trial.ts";

const HOUR_MS = 3_600_000;
const TWELVE_HOURS_LESS_MARGIN_SECONDS = 43_170;

/** A worker whose one handler does the strange thing when the invoice is `strange`. */
async function setup(handler: (typeof strangeHandlers)[number]["handler"]) {
  const trial = await startTrial((receipt, context) =>
    receipt.invoiceId === "strange" ? handler(receipt, context) : undefined,
  );
  const body = envelope({ payload: { invoiceId: "strange", note: MARKER } });
  const messageId = await trial.sendRaw({ body });
  const expectAlive = async () => {
    const goodId = await trial.sendRaw({ body: envelope() });
    await trial.clock.advance(3_000);
    expect(trial.isDeleted(goodId)).toBe(true);
    expect(trial.allSaid()).not.toContain(MARKER);
  };
  return { trial, body, messageId, expectAlive };
}

const named = (expected: string) =>
  strangeHandlers
    .filter((strange) => strange.expected === expected)
    .map(({ name, handler }) => [name, handler] as const);

describe("a handler that", () => {
  test.each(named("acked"))("%s has its message acked", async (_, handler) => {
    const { trial, messageId, expectAlive } = await setup(handler);
    await trial.clock.advance(10_000);

    expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
    expect(trial.isDeleted(messageId)).toBe(true);
    expect(await trial.deadLetters()).toEqual([]);
    await expectAlive();
  });

  test.each(named("retried"))(
    "%s is tried again with backoff, and dead-lettered in the end",
    async (_, handler) => {
      const { trial, body, messageId, expectAlive } = await setup(handler);
      await trial.clock.advance(10_000);
      expect(trial.deliveredAtMs(messageId)).toHaveLength(3);
      expect(trial.hiddenForSeconds(messageId)).toEqual([3, 5, 10]);

      await trial.clock.advance(2 * HOUR_MS);
      expect(trial.deliveredAtMs(messageId)).toHaveLength(15);
      const [copy, ...more] = await trial.deadLetters();
      const told = copy?.MessageAttributes ?? {};
      expect(more).toEqual([]);
      expect(copy?.Body).toBe(body);
      expect(told["dead_letter_reason"]?.StringValue).toBe("attempts-exhausted");
      expect(told["dead_letter_detail"]?.StringValue).toMatch(/^attempt 15 of 15 failed/);
      expect(told["dead_letter_detail"]?.StringValue?.length).toBeLessThanOrEqual(512);
      expect(JSON.stringify(told)).not.toContain(MARKER);
      await expectAlive();
    },
  );

  test.each(named("permanent"))("%s has its message dead-lettered at once", async (_, handler) => {
    const { trial, body, messageId, expectAlive } = await setup(handler);
    await trial.clock.advance(10_000);

    expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
    const [copy] = await trial.deadLetters();
    const told = copy?.MessageAttributes ?? {};
    expect(copy?.Body).toBe(body);
    expect(told["dead_letter_reason"]?.StringValue).toBe("permanent");
    expect(told["dead_letter_detail"]?.StringValue?.length).toBeLessThanOrEqual(512);
    await expectAlive();
  });

  test.each(named("put off"))(
    "%s has its message hidden as long as SQS allows",
    async (_, handler) => {
      const { trial, messageId, expectAlive } = await setup(handler);
      await trial.clock.advance(10_000);
      expect(trial.hiddenForSeconds(messageId)).toEqual([TWELVE_HOURS_LESS_MARGIN_SECONDS]);
      expect(trial.deliveredAtMs(messageId)).toHaveLength(1);

      trial.worker.pause();
      await trial.clock.advance(12 * HOUR_MS);
      trial.worker.resume();
      await trial.clock.advance(3_000);
      expect(trial.deliveredAtMs(messageId)).toHaveLength(2);
      expect(await trial.deadLetters()).toEqual([]);
      await expectAlive();
    },
  );

  test("waits for its signal fails at its limit, and is dead-lettered in the end", async () => {
    const contract = { worker: { jobTimeoutMs: 5_000 } };
    const untilAborted: Handler = (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const trial = await startTrial(untilAborted, { contract });
    const messageId = await trial.sendRaw({ body: envelope() });
    await trial.clock.advance(10_000);
    expect(trial.deliveredAtMs(messageId).length).toBeLessThanOrEqual(3);

    await trial.clock.advance(2 * HOUR_MS);
    expect(trial.deliveredAtMs(messageId)).toHaveLength(15);
    const [copy] = await trial.deadLetters();
    const told = copy?.MessageAttributes ?? {};
    expect(told["dead_letter_reason"]?.StringValue).toBe("attempts-exhausted");
    expect(told["dead_letter_detail"]?.StringValue).toBe(
      "attempt 15 of 15 failed: it took longer than its limit",
    );
  });

  test("never ends and never looks at its signal keeps one lease, and no job but its own", async () => {
    const { trial, messageId, expectAlive } = await setup(() => new Promise(() => undefined));
    await trial.clock.advance(HOUR_MS);

    expect(trial.deliveredAtMs(messageId)).toHaveLength(1);
    expect(trial.isDeleted(messageId)).toBe(false);
    expect(trial.queue.counts()).toMatchObject({ visible: 0, inFlight: 1, deadLettered: 0 });
    await expectAlive();
  });
});
