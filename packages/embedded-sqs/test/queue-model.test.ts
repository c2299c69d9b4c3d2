import { describe, expect, test } from "vitest";
import { only, reportOf, resultOf, setupAccount } from "./account-setup.ts";

const TWELVE_HOURS_MS = 12 * 60 * 60 * 1000;

async function setup(attributes: Record<string, string> = {}) {
  const { clock, account, queue } = setupAccount();
  const q = await queue("jobs", { VisibilityTimeout: "30", ...attributes });
  return { clock, account, queue, q };
}

describe("the visibility of a received message", () => {
  test("ends after the queue's timeout, to the millisecond", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    await q.receive();

    await clock.advance(29_999);
    expect(await q.bodies()).toEqual([]);
    await clock.advance(1);

    expect(await q.bodies()).toEqual(["a"]);
  });

  test("counts anew from a change, and the next receive starts from the queue's default", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    await clock.advance(20_000);

    await q.change(ReceiptHandle, 60);
    await clock.advance(59_999);
    expect(await q.bodies()).toEqual([]);
    await clock.advance(1);
    expect(await q.bodies()).toEqual(["a"]);

    await clock.advance(30_000);
    expect(await q.bodies()).toEqual(["a"]);
  });

  test("is counted as lapsed when it ends by itself, and as released when it was given back", async () => {
    const { clock, account, q } = await setup();
    await q.send("a");
    await q.receive();
    await clock.advance(30_000);
    await q.change(only(await q.receive()).ReceiptHandle, 0);

    const { lapsed, released, received } = reportOf(account, "jobs");

    expect({ lapsed, released, received }).toEqual({ lapsed: 1, released: 1, received: 2 });
  });

  test("of zero seconds gives the message once to each receive", async () => {
    const { q } = await setup();
    await q.send("a");

    expect(await q.bodies({ VisibilityTimeout: 0 })).toEqual(["a"]);
    expect(await q.bodies({ VisibilityTimeout: 0 })).toEqual(["a"]);
  });

  test("grows the receive count with every receive, releases too", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    await clock.advance(1_000);
    const first = only(await q.receive());
    await q.change(first.ReceiptHandle, 0);
    await clock.advance(1_000);
    const second = only(await q.receive());

    expect(first.Attributes).toEqual({
      SenderId: "000000000000",
      SentTimestamp: "1767225600000",
      ApproximateReceiveCount: "1",
      ApproximateFirstReceiveTimestamp: "1767225601000",
    });
    expect(second.Attributes).toEqual({ ...first.Attributes, ApproximateReceiveCount: "2" });
  });

  test("does not follow a stepped wall clock", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    await q.receive();

    clock.stepWall(3_600_000);

    expect(await q.bodies()).toEqual([]);
  });
});

describe("twelve hours", () => {
  test("is the most that one receive can hold a message, extensions included", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive({ VisibilityTimeout: 43_200 }));
    await clock.advance(TWELVE_HOURS_MS - 60_000);

    expect(await resultOf(q.change(ReceiptHandle, 61))).toBe("InvalidParameterValue");
    expect(await resultOf(q.change(ReceiptHandle, 60))).toBe("ok");
  });

  test("counts from the moment the poll arrived, not from the moment it was answered", async () => {
    const { clock, q } = await setup();
    const poll = q.receive({ WaitTimeSeconds: 20 });
    await clock.advance(20_000 - 1);
    await q.send("a");
    const { ReceiptHandle } = only(await poll);

    expect(await resultOf(q.change(ReceiptHandle, 43_181))).toBe("InvalidParameterValue");
    expect(await resultOf(q.change(ReceiptHandle, 43_180))).toBe("ok");
  });

  test("counts anew from the next receive", async () => {
    const { clock, q } = await setup();
    await q.send("a");
    await q.receive({ VisibilityTimeout: 43_200 });
    await clock.advance(TWELVE_HOURS_MS);
    const { ReceiptHandle } = only(await q.receive());

    expect(await resultOf(q.change(ReceiptHandle, 43_200))).toBe("ok");
  });
});

describe("a stale handle of a standard queue", () => {
  async function setupStale() {
    const bundle = await setup();
    await bundle.q.send("a");
    const stale = only(await bundle.q.receive()).ReceiptHandle;
    await bundle.clock.advance(30_000);
    return { ...bundle, stale };
  }

  test("changes nothing while nobody holds the message, and still answers success", async () => {
    const { q, stale } = await setupStale();

    expect(await resultOf(q.change(stale, 60))).toBe("ok");

    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });

  test("releases the message of its new owner", async () => {
    const { q, stale } = await setupStale();
    await q.receive();

    await q.change(stale, 0);

    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
  });

  test("extends the message of its new owner", async () => {
    const { clock, q, stale } = await setupStale();
    await q.receive();

    await q.change(stale, 100);
    await clock.advance(99_999);

    expect(q.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
  });

  test("deletes the message, whoever holds it", async () => {
    const { account, q, stale } = await setupStale();
    await q.receive();

    await q.remove(stale);

    expect(q.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(reportOf(account, "jobs").deleted).toBe(1);
  });

  test("differs from the new owner's handle", async () => {
    const { q, stale } = await setupStale();

    expect(only(await q.receive()).ReceiptHandle).not.toBe(stale);
  });
});

describe("a handle", () => {
  test("of a deleted message may delete again, but not change", async () => {
    const { account, q } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    await q.remove(ReceiptHandle);

    expect(await resultOf(q.remove(ReceiptHandle))).toBe("ok");
    expect(await resultOf(q.change(ReceiptHandle, 10))).toBe("InvalidParameterValue");
    expect(reportOf(account, "jobs").deleted).toBe(1);
  });

  test("that was released still deletes", async () => {
    const { q } = await setup();
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    await q.change(ReceiptHandle, 0);

    expect(await resultOf(q.change(ReceiptHandle, 0))).toBe("ok");
    expect(await resultOf(q.remove(ReceiptHandle))).toBe("ok");
    expect(q.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
  });

  test("of another queue is refused, also of an earlier queue of the same name", async () => {
    const { account, queue, q } = await setup();
    const other = await queue("other");
    await q.send("a");
    const { ReceiptHandle } = only(await q.receive());
    await account.perform("DeleteQueue", { QueueUrl: q.QueueUrl });
    const again = await queue("jobs");

    expect(await resultOf(other.remove(ReceiptHandle))).toBe("ReceiptHandleIsInvalid");
    expect(await resultOf(again.remove(ReceiptHandle))).toBe("ReceiptHandleIsInvalid");
  });

  test("that is garbage is refused", async () => {
    const { q } = await setup();

    expect(await resultOf(q.remove("garbage"))).toBe("ReceiptHandleIsInvalid");
    expect(await resultOf(q.change("garbage", 5))).toBe("ReceiptHandleIsInvalid");
  });
});

describe("a delay", () => {
  test("hides a message from its first receive", async () => {
    const { clock, q } = await setup({ DelaySeconds: "5" });
    await q.send("queue's delay");
    await q.send("own delay", { DelaySeconds: 10 });
    await q.send("none", { DelaySeconds: 0 });

    expect(q.counts()).toEqual({ visible: 1, inFlight: 0, delayed: 2 });
    expect(await q.bodies()).toEqual(["none"]);
    await clock.advance(5_000);
    expect(await q.bodies()).toEqual(["queue's delay"]);
    await clock.advance(5_000);
    expect(await q.bodies()).toEqual(["own delay"]);
  });
});

describe("the retention period", () => {
  test("removes a message wherever it stands, counted from when it was sent", async () => {
    const { clock, account, q } = await setup({ MessageRetentionPeriod: "60" });
    await q.send("a");
    await clock.advance(40_000);
    await q.receive();

    await clock.advance(19_999);
    expect(q.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
    await clock.advance(1);

    expect(q.counts()).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    expect(reportOf(account, "jobs").expired).toBe(1);
  });
});

describe("the in-flight limit", () => {
  async function setupFull() {
    const { clock, account, queue } = setupAccount({ inFlightLimit: 2 });
    const q = await queue("jobs");
    for (const body of ["a", "b", "c"]) await q.send(body);
    const held = await q.receive();
    return { clock, account, q, held };
  }

  test("cuts a receive short", async () => {
    const { held } = await setupFull();

    expect(held.map(({ Body }) => Body)).toEqual(["a", "b"]);
  });

  test("refuses a short poll", async () => {
    const { q } = await setupFull();

    expect(await resultOf(q.receive())).toBe("OverLimit");
  });

  test("leaves a long poll empty, and wakes it when there is room again", async () => {
    const { clock, q, held } = await setupFull();
    const first = q.bodies({ WaitTimeSeconds: 5 });
    await clock.advance(5_000);
    const second = q.bodies({ WaitTimeSeconds: 5 });
    await q.remove(held[0]?.ReceiptHandle ?? "");

    expect(await first).toEqual([]);
    expect(await second).toEqual(["c"]);
  });
});
