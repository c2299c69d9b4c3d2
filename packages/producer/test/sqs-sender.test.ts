import { ManualClock } from "@leasehold/clock/manual";
import { parseJobId, parseJobType, parseTenantId } from "@leasehold/job";
import { afterEach, describe, expect, test } from "vitest";
import { writeEntry } from "../message-entry.ts";
import { type ProducerOptions, resolveProducerOptions } from "../options.ts";
import { SqsSender } from "../sqs-sender.ts";
import { type Answer, fail, hang, reset, startScriptedSqs, take } from "./scripted-sqs.ts";

/** A clock whose sleeps pass at once and are remembered. */
class SleeplessClock extends ManualClock {
  readonly sleptMs: number[] = [];

  override async sleep(durationMs: number): Promise<void> {
    this.sleptMs.push(durationMs);
    await this.advance(durationMs);
  }
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const entry = (jobId: string) =>
  writeEntry(
    {
      tenantId: parseTenantId("acme"),
      jobId: parseJobId(jobId),
      jobType: parseJobType("a.b"),
      createdAtMs: 0,
      payload: null,
    },
    { fifo: false, delayMs: 0 },
  );

async function setup(answers: readonly Answer[], options: ProducerOptions = {}) {
  const sqs = await startScriptedSqs(answers);
  closing.push(sqs.close);
  const clock = new SleeplessClock();
  const resolved = resolveProducerOptions(options, sqs.queueUrl);
  const sender = new SqsSender(sqs, resolved, { clock, random: () => 0.5 });
  const send = (...jobIds: string[]) => sender.send(jobIds.map(entry));
  return { sqs, clock, send };
}

describe("SqsSender", () => {
  test("sends a batch in one call", async () => {
    const { sqs, clock, send } = await setup([take()]);

    expect(await send("a", "b")).toEqual([
      { kind: "sent", messageId: "m-a" },
      { kind: "sent", messageId: "m-b" },
    ]);
    expect(sqs.calls()).toEqual([["a", "b"]]);
    expect(clock.sleptMs).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("sends again only what failed, and answers in the order of the entries", async () => {
    const { sqs, clock, send } = await setup([take({ b: "InternalError" }), take()]);

    expect(await send("a", "b", "c")).toEqual([
      { kind: "sent", messageId: "m-a" },
      { kind: "sent", messageId: "m-b" },
      { kind: "sent", messageId: "m-c" },
    ]);
    expect(sqs.calls()).toEqual([["a", "b", "c"], ["b"]]);
    expect(clock.sleptMs).toEqual([50]);
  });

  test("never sends again what SQS will never take", async () => {
    const { sqs, send } = await setup([take({ b: "InvalidMessageContents" }, true)]);

    expect(await send("a", "b")).toMatchObject([
      { kind: "sent" },
      {
        kind: "refused",
        error: {
          code: "SEND_FAILED",
          faultCode: "InvalidMessageContents",
          attempts: 1,
          maybeSent: false,
        },
      },
    ]);
    expect(sqs.calls()).toHaveLength(1);
  });

  test("doubles the pause up to its cap, then gives up", async () => {
    const { sqs, clock, send } = await setup([fail(400, "RequestThrottled")], {
      maxAttempts: 6,
      backoffCapMs: 500,
    });

    expect(await send("a")).toMatchObject([
      { kind: "failed", error: { faultCode: "RequestThrottled", attempts: 6, maybeSent: false } },
    ]);
    expect(clock.sleptMs).toEqual([50, 100, 200, 250, 250]);
    expect(sqs.calls()).toHaveLength(6);
  });

  test("says that a job may have been sent when an attempt had no answer", async () => {
    const { send } = await setup([reset, fail(400, "RequestThrottled")], { maxAttempts: 2 });

    expect(await send("a")).toMatchObject([
      { kind: "failed", error: { faultCode: "RequestThrottled", attempts: 2, maybeSent: true } },
    ]);
  });

  test("does not call refused what an earlier attempt may have brought there", async () => {
    const { send } = await setup([fail(503, "ServiceUnavailable"), fail(403, "AccessDenied")]);

    expect(await send("a")).toMatchObject([
      { kind: "failed", error: { faultCode: "AccessDenied", maybeSent: true } },
    ]);
  });

  test("sends through after a lost answer", async () => {
    const { sqs, send } = await setup([reset, take()]);

    expect(await send("a")).toEqual([{ kind: "sent", messageId: "m-a" }]);
    expect(sqs.calls()).toEqual([["a"], ["a"]]);
  });

  test("gives up a call that nobody answers", async () => {
    const { sqs, clock, send } = await setup([hang], { maxAttempts: 1, requestTimeoutMs: 3_000 });
    const outcome = send("a");
    await sqs.requests(1);

    await clock.advance(3_000);

    expect(await outcome).toMatchObject([
      { kind: "failed", error: { faultCode: "RequestTimeout", maybeSent: true } },
    ]);
  });

  test("sends each alone when one of them may have spoilt the call", async () => {
    const { sqs, send } = await setup([
      fail(400, "InvalidParameterValue"),
      take(),
      fail(400, "InvalidParameterValue"),
      take(),
    ]);

    expect(await send("a", "b", "c")).toMatchObject([
      { kind: "sent", messageId: "m-a" },
      { kind: "refused", error: { faultCode: "InvalidParameterValue" } },
      { kind: "sent", messageId: "m-c" },
    ]);
    expect(sqs.calls()).toEqual([["a", "b", "c"], ["a"], ["b"], ["c"]]);
  });

  test("asks only once when the queue itself is the fault", async () => {
    const { sqs, send } = await setup([fail(400, "QueueDoesNotExist")]);

    expect(await send("a", "b")).toMatchObject([{ kind: "refused" }, { kind: "refused" }]);
    expect(sqs.calls()).toHaveLength(1);
  });

  test("takes an entry that SQS does not mention for unknown", async () => {
    const forgetful: Answer = (entries, response) => take()(entries.slice(0, 1), response);
    const { send } = await setup([forgetful], { maxAttempts: 1 });

    expect(await send("a", "b")).toMatchObject([
      { kind: "sent" },
      { kind: "failed", error: { faultCode: "NoAnswer", maybeSent: true } },
    ]);
  });

  test("takes an answer with a wrong checksum for unknown", async () => {
    const garbled: Answer = (entries, response) =>
      take()(
        entries.map((each) => ({ ...each, MessageBody: `${each.MessageBody} ` })),
        response,
      );
    const { send } = await setup([garbled], { maxAttempts: 1 });

    expect(await send("a")).toMatchObject([{ kind: "failed", error: { maybeSent: true } }]);
  });

  test("knows that nothing was sent when nobody listens", async () => {
    const { sqs, send } = await setup([take()], { maxAttempts: 2 });
    await sqs.close();

    expect(await send("a")).toMatchObject([
      { kind: "failed", error: { faultCode: "ECONNREFUSED", maybeSent: false, attempts: 2 } },
    ]);
  });
});
