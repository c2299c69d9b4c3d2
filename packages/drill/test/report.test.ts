import type { Timeline, VerdictRow } from "@leasehold/drill";
import { describe, expect, test } from "vitest";
import { groupScenarios, outcomeSentence } from "../report.ts";

const empty: Timeline = {
  title: "",
  startedAtMs: 0,
  endMs: 0,
  workers: [],
  leases: [],
  phases: [],
  lines: [],
  effects: [],
};

function verdict(scenario: string, held: boolean): VerdictRow {
  return { scenario, promise: "no job is lost", held, seen: "0 lost" };
}

function grouped(verdicts: readonly VerdictRow[], titles: readonly string[] = []) {
  const timelines = titles.map((title) => ({ ...empty, title }));
  return groupScenarios({ title: "drill", numbers: [], verdicts, timelines });
}

describe("groupScenarios", () => {
  test("puts scenarios with a broken promise first, the others in their order", () => {
    const scenarios = grouped([
      verdict("idle", true),
      verdict("ladder", true),
      verdict("twin", true),
      verdict("twin", false),
    ]);

    expect(scenarios.map(({ name }) => name)).toEqual(["twin", "idle", "ladder"]);
    expect(scenarios[0]?.broken).toEqual([verdict("twin", false)]);
  });

  test("gives a scenario every timeline of its name, and a history without verdicts its own", () => {
    const scenarios = grouped([verdict("idle", true)], ["idle", "seed 4711", "idle"]);

    expect(scenarios.map(({ name, timelines }) => [name, timelines.length])).toEqual([
      ["idle", 2],
      ["seed 4711", 1],
    ]);
  });
});

describe("outcomeSentence", () => {
  test("counts the scenarios that were judged", () => {
    const sentences = [
      grouped([], ["seed 4711"]),
      grouped([verdict("idle", true)]),
      grouped([verdict("idle", true), verdict("twin", true)], ["seed 4711"]),
      grouped([verdict("idle", true), verdict("twin", false), verdict("ladder", true)]),
    ].map(outcomeSentence);

    expect(sentences).toEqual([
      "No promise was judged.",
      "The scenario held every promise.",
      "All 2 scenarios held every promise.",
      "2 of 3 scenarios held every promise, 1 did not.",
    ]);
  });
});
