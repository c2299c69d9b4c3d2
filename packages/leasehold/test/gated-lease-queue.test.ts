import type { LeaseQueue, ReceiveRequest } from "@leasehold/lease";
import { describe, expect, test } from "vitest";
import { QueueLookUpError } from "../errors.ts";
import { gatedLeaseQueue } from "../gated-lease-queue.ts";

const request: ReceiveRequest = { maxMessages: 1, waitMs: 0, visibilityTimeoutMs: 10_000 };

function setup(missing: () => Error | undefined) {
  const calls: string[] = [];
  const behind: LeaseQueue = {
    ...{ name: "mail", fifo: false, hasDeadLetterQueue: true },
    receive: async () => {
      calls.push("receive");
      return [];
    },
    changeVisibility: async () => [{ kind: "ok" }],
    delete: async () => [{ kind: "ok" }],
    deadLetter: async () => ({ kind: "ok" }),
  };
  const open = async () => {
    calls.push("open");
    const error = missing();
    if (error !== undefined) throw error;
    return behind;
  };
  return { calls, queue: gatedLeaseQueue({ name: "mail", fifo: false, open }) };
}

describe("gatedLeaseQueue", () => {
  test("opens once and then hands every call on", async () => {
    const { calls, queue } = setup(() => undefined);

    expect(await queue.receive(request)).toEqual([]);
    expect(await queue.receive(request)).toEqual([]);
    expect(await queue.delete(["handle"])).toEqual([{ kind: "ok" }]);

    expect(calls).toEqual(["open", "receive", "receive"]);
  });

  test("tells what is missing as a claim that may be tried again, and claims nothing", async () => {
    let error: Error | undefined = new QueueLookUpError(
      "mail",
      "QueueDoesNotExist",
      "is not there",
    );
    const { calls, queue } = setup(() => error);

    await expect(queue.receive(request)).rejects.toMatchObject({
      code: "CLAIM_FAILED",
      reason: "QueueDoesNotExist",
      retryable: true,
      message: "claim from mail failed (QueueDoesNotExist): queue mail is not there",
    });
    error = undefined;
    await queue.receive(request);

    expect(calls).toEqual(["open", "open", "receive"]);
  });
});
