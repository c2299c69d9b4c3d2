import { orderTimeline, type Timeline, TimelineError } from "@leasehold/drill";
import { describe, expect, test } from "vitest";

function setup(change: Partial<Timeline> = {}): Timeline {
  return {
    title: "a run",
    startedAtMs: 0,
    endMs: 1_000,
    workers: [
      { name: "late", bootedMs: 400 },
      { name: "early", bootedMs: 0, exitedMs: 900, exitCode: 0 },
    ],
    leases: [
      lease("m-2", 300, 800, [700, 500]),
      lease("m-1", 100, 600, []),
      lease("m-3", 100, 200, []),
    ],
    phases: [
      { worker: "early", phase: "releasing", fromMs: 850, toMs: 880 },
      { worker: "early", phase: "draining", fromMs: 500, toMs: 850 },
    ],
    lines: [
      { atMs: 850, kind: "deadline", text: "drain deadline" },
      { worker: "early", atMs: 500, kind: "signal", text: "SIGTERM" },
    ],
    effects: [
      { jobId: "j-1", effect: "charge", atMs: 500, mark: "done" },
      { jobId: "j-1", effect: "charge", atMs: 300, mark: "started" },
    ],
    ...change,
  };
}

function lease(
  messageId: string,
  fromMs: number,
  toMs: number,
  extensionsMs: number[],
): Timeline["leases"][number] {
  return { worker: "early", queue: "q", messageId, fromMs, toMs, ending: "acked", extensionsMs };
}

function problemsOf(timeline: Timeline): readonly string[] {
  try {
    orderTimeline(timeline);
  } catch (error) {
    if (error instanceof TimelineError) return error.problems;
    throw error;
  }
  return [];
}

describe("orderTimeline", () => {
  test("puts everything in the order in which it happened", () => {
    const ordered = orderTimeline(setup());

    expect(ordered.workers.map(({ name }) => name)).toEqual(["early", "late"]);
    expect(ordered.leases.map(({ messageId }) => messageId)).toEqual(["m-3", "m-1", "m-2"]);
    expect(ordered.leases[2]?.extensionsMs).toEqual([500, 700]);
    expect(ordered.phases.map(({ phase }) => phase)).toEqual(["draining", "releasing"]);
    expect(ordered.lines.map(({ text }) => text)).toEqual(["SIGTERM", "drain deadline"]);
    expect(ordered.effects.map(({ mark }) => mark)).toEqual(["started", "done"]);
  });

  test("moves the end to what happened last", () => {
    const ordered = orderTimeline(
      setup({ effects: [{ jobId: "j-1", effect: "charge", atMs: 1_250, mark: "applied" }] }),
    );

    expect(ordered.endMs).toBe(1_250);
  });

  test("refuses a lease that ends before it began, and one whose start lies outside it", () => {
    const started = { ...lease("m-5", 100, 200, []), startedMs: 300 };

    expect(problemsOf(setup({ leases: [lease("m-4", 500, 400, []), started] }))).toEqual([
      "the lease of early on m-4: toMs 400 comes before fromMs (500)",
      "the lease of early on m-5: toMs 200 comes before startedMs (300)",
    ]);
  });

  test("refuses a time that is no number, or that lies before the run", () => {
    const lines: Timeline["lines"] = [
      { atMs: Number.NaN, kind: "note", text: "when?" },
      { atMs: -5, kind: "note", text: "before" },
    ];

    expect(problemsOf(setup({ lines }))).toEqual([
      'the note "when?": atMs must be a number of ms, got NaN',
      'the note "before": atMs -5 comes before the start (0)',
    ]);
  });

  test("refuses an extension before the claim", () => {
    expect(problemsOf(setup({ leases: [lease("m-6", 500, 900, [450])] }))).toEqual([
      "the lease of early on m-6: extensionMs 450 comes before fromMs (500)",
    ]);
  });

  test("refuses words that it does not know, and workers that it was not told of", () => {
    const strange = { ...lease("m-7", 1, 2, []), worker: "nobody", ending: "gone" as "acked" };

    expect(problemsOf(setup({ leases: [strange] }))).toEqual([
      '"gone" is no ending; known are acked, retried, released, dead-lettered, parked, lost, lapsed, cut off, open',
      "nobody is not among the workers (late, early)",
    ]);
  });

  test("refuses two workers of one name", () => {
    const workers = [
      { name: "early", bootedMs: 0 },
      { name: "early", bootedMs: 500 },
    ];

    expect(problemsOf(setup({ workers }))).toEqual([
      "two workers are named early; name each start of a process apart",
    ]);
  });

  test("names ten problems in its message and counts the others", () => {
    const leases = Array.from({ length: 12 }, (_, index) => lease(`m-${index}`, 2, 1, []));

    expect(() => orderTimeline(setup({ leases }))).toThrow(
      /^the timeline "a run" cannot be drawn: the lease of early on m-0.*m-9: toMs 1 comes before fromMs \(2\); and 2 more$/,
    );
  });
});
