import { describe, expect, test } from "vitest";
import type { DrillRecord } from "../drill-record.ts";
import type { Expectation } from "../scenario.ts";
import { judge } from "../verdict.ts";
import {
  deleted,
  facts,
  firstWorker,
  line,
  received,
  released,
  request,
  secondWorker,
} from "./drill-facts.ts";

const EXPECTED: Expectation = { exits: { first: 75 } };

function brokenBy(record: DrillRecord, expectation = EXPECTED): readonly string[] {
  return judge(record, expectation)
    .filter(({ held }) => !held)
    .map(({ promise, seen }) => `${promise}: ${seen}`);
}

describe("the verdict on a drill", () => {
  test("holds every promise of a drain that went as it should, and shows what was seen", () => {
    const rows = judge(facts(), EXPECTED).map(
      ({ held, promise, seen }) => `${held ? "ok" : "BROKEN"} ${promise}: ${seen}`,
    );
    expect(rows).toEqual([
      "ok nothing lost: 1 sent, 1 done, 0 on the queue, 0 dead",
      "ok nothing deleted unfinished: none",
      "ok no message worked on twice at a time: none",
      "ok each lease released once at most: 1 released",
      "ok nothing started in a drain: none",
      "ok started elsewhere as soon as released: 32 ms after the release",
      "ok first ends as it should: 75",
      "ok first claims nothing after the signal: last claim -1005 ms",
      "ok first is not ready from the signal on: +40 ms",
      "ok first has released everything in time: +8010 ms",
      "ok first is gone before the platform would kill: +8020 ms (by itself at +13500 ms at the latest)",
      "ok second ends as it should: 0",
    ]);
  });

  test("sees a message that is neither done nor there, and one that died", () => {
    const gone = secondWorker({ requests: [received(11_020, "r-2")] });
    expect(brokenBy(facts({ workers: [firstWorker(), gone] }))).toEqual([
      "nothing lost: 1 sent, 0 done, 0 on the queue, 0 dead",
    ]);
    expect(brokenBy(facts({ left: { onQueue: 0, dead: 1 } }))).toEqual([
      "nothing lost: 1 sent, 1 done, 0 on the queue, 1 dead",
    ]);
  });

  test("sees a delete of what its worker has not finished", () => {
    const first = firstWorker({ requests: [received(1_995, "r-1"), deleted(11_003, "r-1")] });
    expect(brokenBy(facts({ workers: [first] }))).toEqual([
      "nothing deleted unfinished: delete of m-1 by first",
    ]);
  });

  test("sees two handlers of one message at a time, unless that is meant", () => {
    const early = { receive_count: 2 };
    const second = secondWorker({
      lines: [
        line("job.started", 10_000, early),
        line("job.ended", 11_200, { ...early, outcome: "succeeded" }),
      ],
    });
    const record = facts({ workers: [firstWorker(), second] });
    expect(brokenBy(record)).toEqual(["no message worked on twice at a time: job-1"]);
    expect(brokenBy(record, { ...EXPECTED, twins: true })).toEqual([]);
  });

  test("sees a lease that is released twice, and not one that came back between", () => {
    const twice = [received(1_995, "r-1"), released(11_003, "r-1"), released(11_006, "r-1")];
    const again = [...twice.slice(0, 2), received(11_005, "r-3"), released(11_015, "r-3")];
    const workers = (requests: typeof twice) => [
      firstWorker({ requests, signals: [] }),
      secondWorker(),
    ];
    expect(brokenBy(facts({ workers: workers(twice) }))).toEqual([
      "each lease released once at most: release of m-1 by first",
    ]);
    expect(brokenBy(facts({ workers: workers(again) }))).toEqual([]);
  });

  test("sees a start elsewhere that comes late, but not behind a backlog", () => {
    const late = { receive_count: 2 };
    const second = secondWorker({
      lines: [
        line("job.started", 13_100, late),
        line("job.ended", 13_200, { ...late, outcome: "succeeded" }),
      ],
      requests: [received(13_050, "r-2"), deleted(13_300, "r-2")],
    });
    const record = facts({ workers: [firstWorker(), second] });
    expect(brokenBy(record)).toEqual([
      "started elsewhere as soon as released: 2092 ms after the release",
    ]);
    expect(brokenBy(record, { ...EXPECTED, backlog: true })).toEqual([]);
  });

  test("sees another exit than the one that tells the truth, and a process that stays", () => {
    expect(brokenBy(facts(), {})).toEqual(["first ends as it should: 75"]);
    expect(brokenBy(facts(), { exits: { first: [0, 75] } })).toEqual([]);
    const { exit: _, ...staying } = firstWorker();
    expect(brokenBy(facts({ workers: [staying, secondWorker()] }))).toEqual([
      "first ends as it should: still runs",
    ]);
  });

  test("sees a claim after the signal, a probe that stays good, and an exit after the kill", () => {
    const first = firstWorker({
      requests: [...firstWorker().requests, request("ReceiveMessage", 3_400)],
      unreadyAtMs: 4_500,
      exit: { code: 75, signal: null, atMs: 17_000 },
    });
    expect(brokenBy(facts({ workers: [first, secondWorker()] }))).toEqual([
      "first claims nothing after the signal: last claim +400 ms",
      "first is not ready from the signal on: +1500 ms",
      "first is gone before the platform would kill: +14000 ms (by itself at +13500 ms at the latest)",
    ]);
  });

  test("sees a probe that says ready while its worker drains, whatever it says later", () => {
    const first = firstWorker({ readyAtMs: 3_300, unreadyAtMs: 3_310 });
    expect(brokenBy(facts({ workers: [first, secondWorker()] }))).toEqual([
      "first is not ready from the signal on: still ready +300 ms",
    ]);
    const asked = firstWorker({ readyAtMs: 2_999 });
    expect(brokenBy(facts({ workers: [asked, secondWorker()] }))).toEqual([]);
  });

  test("sees a job that starts in its worker's drain", () => {
    const lines = [
      ...firstWorker().lines,
      line("job.started", 3_050, { message_id: "m-2", job_id: "job-2" }),
      line("job.ended", 3_060, { message_id: "m-2", outcome: "interrupted" }),
    ];
    expect(brokenBy(facts({ workers: [firstWorker({ lines }), secondWorker()] }))).toEqual([
      "nothing started in a drain: job-2 by first",
    ]);
  });

  test("sees a release after the contract's time for it", () => {
    const lines = [...firstWorker().lines, line("lease.released", 14_200, { message_id: "m-2" })];
    expect(brokenBy(facts({ workers: [firstWorker({ lines }), secondWorker()] }))).toEqual([
      "first has released everything in time: +11200 ms",
    ]);
  });

  test("tells the last words of a process that ended otherwise than it should", () => {
    const noise = ["one", "two", "three", "four", "Assertion failed"];
    const first = firstWorker({ noise, exit: { code: null, signal: "SIGABRT", atMs: 11_020 } });
    expect(brokenBy(facts({ workers: [first, secondWorker()] }))).toEqual([
      "first ends as it should: SIGABRT; its last words: two | three | four | Assertion failed",
    ]);
  });

  test("sees a message that comes back late after a kill, or never", () => {
    const expectation = { ...EXPECTED, backWithinMs: () => 8_000 };
    expect(brokenBy(facts(), expectation)).toEqual([
      "received again in time: +8025 ms after the first signal",
    ]);
    const nobody = secondWorker({ requests: [], lines: [] });
    const record = facts({ workers: [firstWorker(), nobody], left: { onQueue: 1, dead: 0 } });
    expect(brokenBy(record, expectation)).toEqual(["received again in time: never"]);
  });

  test("sees a worker that says nothing, and one that deletes what it must not", () => {
    const expectation: Expectation = {
      ...EXPECTED,
      says: { first: /blocked/ },
      deletesNothing: ["second"],
    };
    expect(brokenBy(facts(), expectation)).toEqual([
      "second deletes nothing: delete of m-1 by second",
      "first says what is the matter: it did not",
    ]);
    const told = firstWorker({ noise: ["the event loop is blocked"] });
    const { deletesNothing: _, ...says } = expectation;
    expect(brokenBy(facts({ workers: [told, secondWorker()] }), says)).toEqual([]);
  });

  test("sees an effect that happened twice or not at all, and that none was counted", () => {
    const effects = (counts: Record<string, number>) =>
      facts({ effects: new Map(Object.entries(counts)) });
    const expectation: Expectation = { ...EXPECTED, effects: true };
    expect(brokenBy(effects({ a: 1, b: 1 }), expectation)).toEqual([]);
    expect(brokenBy(effects({ a: 2, b: 0, c: 1 }), expectation)).toEqual([
      "every effect once: a: 2, b: 0",
    ]);
    expect(brokenBy(effects({}), expectation)).toEqual(["every effect once: 0 effects, each once"]);
  });

  test("sees a group that leaves its order", () => {
    const m2 = request("ReceiveMessage", 11_021, { messageId: "m-2", receiptHandle: "r-9" });
    const second = secondWorker({
      lines: [
        ...secondWorker().lines,
        line("job.started", 11_050, { message_id: "m-2" }),
        line("job.ended", 11_060, { message_id: "m-2", outcome: "succeeded" }),
      ],
      requests: [...secondWorker().requests, m2, deleted(11_100, "r-9")],
    });
    const sent = [...facts().sent, { messageId: "m-2", tenantId: "acme", jobId: "job-2" }];
    const record = facts({ sent, workers: [firstWorker(), second] });
    expect(brokenBy(record, { ...EXPECTED, inOrder: true })).toEqual([
      "the group in its order: 2, 1",
    ]);
  });
});
