import { jsonReport, type Report, TimelineError } from "@leasehold/drill";
import { describe, expect, test } from "vitest";

function setup(exitedMs: number): Report {
  return {
    title: "drill",
    numbers: [{ name: "drain deadline", value: "2.5 s" }],
    verdicts: [
      { scenario: "idle", promise: "no job is lost", held: true, seen: "0 lost", bound: "0" },
      { scenario: "twin", promise: "no effect happens twice", held: false, seen: "2 charges" },
    ],
    timelines: [
      {
        title: "idle",
        startedAtMs: 0,
        endMs: 10,
        workers: [{ name: "one", bootedMs: 5, exitedMs }],
        leases: [],
        phases: [],
        lines: [],
        effects: [],
      },
    ],
  };
}

describe("jsonReport", () => {
  test("says in one document what was held, and null where there is no bound", () => {
    expect(JSON.parse(jsonReport(setup(20)))).toEqual({
      title: "drill",
      held: false,
      totals: { scenarios: 2, scenarios_broken: 1, promises: 2, promises_broken: 1 },
      numbers: [{ name: "drain deadline", value: "2.5 s" }],
      verdicts: [
        { scenario: "idle", promise: "no job is lost", held: true, seen: "0 lost", bound: "0" },
        {
          scenario: "twin",
          promise: "no effect happens twice",
          held: false,
          seen: "2 charges",
          bound: null,
        },
      ],
      timelines: [{ ...setup(20).timelines[0], endMs: 20 }],
    });
  });

  test("refuses a timeline that contradicts itself", () => {
    expect(() => jsonReport(setup(1))).toThrow(TimelineError);
  });
});
