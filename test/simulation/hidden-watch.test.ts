import type { RequestAnswered, RequestEntry } from "@leasehold/embedded-sqs";
import { expect, test } from "vitest";
import { HiddenWatch } from "./hidden-watch.ts";

function setup() {
  let nowMs = 0;
  const watch = new HiddenWatch(() => nowMs, 10_000);
  const answer = (action: string, entry: RequestEntry) =>
    watch.answered({ kind: "answered", action, entries: [entry] } as unknown as RequestAnswered);
  const receive = (receiptHandle: string) =>
    answer("ReceiveMessage", { messageId: "m", receiptHandle, outcome: "received" });
  const change = (receiptHandle: string, visibilityTimeoutSeconds: number, outcome = "changed") =>
    answer("ChangeMessageVisibility", {
      ...{ messageId: "m", receiptHandle, visibilityTimeoutSeconds, outcome },
    });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { watch, receive, change, pass };
}

test("finds a worker that believes in more than SQS gives, less the margin", () => {
  const { watch, receive, change, pass } = setup();
  receive("r-1");
  expect(watch.overrated("m", 9_000)).toBe(0);
  expect(watch.overrated("m", 9_500)).toBe(498);
  pass(4_000);
  expect(watch.overrated("m", 5_000)).toBe(0);
  change("r-1", 10);
  expect(watch.overrated("m", 9_000)).toBe(0);
  change("r-1", 3);
  expect(watch.overrated("m", 9_000)).toBe(6_998);
  expect(watch.overrated("m", 0)).toBe(0);
});

test("finds whatever is said by a handle that gave its message back, also when it is too late to count", () => {
  const { receive, change } = setup();
  receive("r-1");
  expect(change("r-1", 10)).toEqual([]);
  expect(change("r-1", 0)).toEqual([]);
  expect(change("r-1", 10)).toEqual(["m"]);
  receive("r-2");
  expect(change("r-1", 10, "no-effect")).toEqual(["m"]);
  expect(change("r-2", 10)).toEqual([]);
});

test("does not take a release for a later one's that a waiting poll has brought already", () => {
  const { watch, receive, change } = setup();
  receive("r-1");
  receive("r-2");
  change("r-1", 0);
  expect(watch.overrated("m", 9_000)).toBe(0);
});
