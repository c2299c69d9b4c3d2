import { describe, expect, test } from "vitest";
import { readFigures, type TrialFacts, type TrialRequest } from "./trial-record.ts";

const EXIT_AT_MS = 10_000;

function request(
  by: TrialRequest["by"],
  action: string,
  endedAtMs: number,
  entry?: TrialRequest["entries"][number],
): TrialRequest {
  const entries = entry === undefined ? [] : [{ messageId: "m", ...entry }];
  return {
    ...{ kind: "answered", by, action, endedAtMs, entries },
    ...{ requestNumber: 1, queueName: "jobs", startedAtMs: endedAtMs },
    ...{ result: "ok", isClientGone: false },
  };
}

const received = (by: TrialRequest["by"], atMs: number) =>
  request(by, "ReceiveMessage", atMs, { outcome: "received" });
const changed = (by: TrialRequest["by"], atMs: number, visibilityTimeoutSeconds: number) =>
  request(by, "ChangeMessageVisibility", atMs, { outcome: "changed", visibilityTimeoutSeconds });
const deleted = (by: TrialRequest["by"], atMs: number) =>
  request(by, "DeleteMessage", atMs, { outcome: "deleted" });

function figures(requests: readonly TrialRequest[], facts: Partial<TrialFacts> = {}) {
  return readFigures({
    requests,
    effects: [],
    jobOf: new Map([["m", "job"]]),
    exitedAtMs: EXIT_AT_MS,
    visibilityTimeoutMs: 10_000,
    isFifo: false,
    deadLetterQueue: "dead",
    ...facts,
  });
}

describe("a stranded message", () => {
  test("is hidden when the worker has gone, for the rest of its timeout", () => {
    expect(figures([received("worker", 4_000)])).toMatchObject({ stranded: 1, hidden_ms: 4_000 });
  });

  test("is one that the worker's dead socket takes later, for all of its timeout", () => {
    expect(figures([received("worker", 11_000)])).toMatchObject({ stranded: 1, hidden_ms: 10_000 });
  });

  test("is one whose release a late extension has undone", () => {
    const late = [received("worker", 1_000), changed("worker", 9_000, 0)];
    expect(figures(late)).toMatchObject({ stranded: 0, released: 1 });
    const undone = [...late, changed("worker", 9_500, 10)];
    expect(figures(undone)).toMatchObject({ stranded: 1, hidden_ms: 9_500 });
  });

  test("is none that was deleted, released, or has run out", () => {
    expect(figures([received("worker", 9_000), deleted("worker", 9_500)]).stranded).toBe(0);
    expect(figures([received("worker", 9_000), changed("worker", 9_500, 0)]).stranded).toBe(0);
    expect(figures([received("worker", -1)]).stranded).toBe(0);
  });

  test("is none that its successor had before, whatever comes late", () => {
    const taken = [received("worker", 1_000), received("bench", 9_000)];
    expect(figures([...taken, changed("worker", 9_500, 10)]).stranded).toBe(0);
  });
});

describe("an effect", () => {
  const worker = { jobId: "job", by: "worker" } as const;
  const successor = { jobId: "job", by: "successor" } as const;

  test("is handled once and duplicated by whoever does it again", () => {
    expect(figures([], { effects: [worker] })).toMatchObject({ handled: 1, duplicated: 0 });
    expect(figures([], { effects: [successor] })).toMatchObject({ handled: 0, duplicated: 0 });
    expect(figures([], { effects: [worker, worker] })).toMatchObject({ handled: 1, duplicated: 1 });
    expect(figures([], { effects: [worker, successor] }).duplicated).toBe(1);
  });

  test("that was never done is lost with its message, unless a dead letter was sent", () => {
    const gone = [received("worker", 1_000), deleted("worker", 2_000)];
    expect(figures(gone).lost).toBe(1);
    expect(figures(gone, { effects: [worker] }).lost).toBe(0);
    expect(
      figures([{ ...request("worker", "SendMessage", 1), queueName: "dead" }, ...gone]),
    ).toEqual({ ...figures(gone), lost: 0, calls: 3 });
  });

  test("is out of order before that of an earlier job of its group", () => {
    const jobOf = new Map(["a", "b", "c"].map((job) => [`message-${job}`, job]));
    const effects = ["b", "c", "a"].map((jobId) => ({ jobId, by: "worker" as const }));
    expect(figures([], { jobOf, effects, isFifo: true }).out_of_order).toBe(2);
    expect(figures([], { jobOf, effects }).out_of_order).toBe(0);
    const inOrder = effects.toSorted((one, other) => one.jobId.localeCompare(other.jobId));
    expect(figures([], { jobOf, effects: inOrder, isFifo: true }).out_of_order).toBe(0);
  });
});

test("calls are the worker's own, of the kinds that a queue is worked with", () => {
  const requests = [
    request("worker", "GetQueueUrl", 1),
    request("worker", "ReceiveMessage", 2),
    request("bench", "ReceiveMessage", 3),
    request("worker", "ChangeMessageVisibilityBatch", 4),
    request("worker", "DeleteMessageBatch", 5),
  ];
  expect(figures(requests).calls).toBe(3);
});
