/** What a report tells, whatever its form: numbers, verdicts and timelines, by scenario. */

import type { Timeline } from "./timeline.ts";

/** One promise in one scenario: was it held, what was seen, and what would still have been right. */
export interface VerdictRow {
  readonly scenario: string;
  readonly promise: string;
  readonly held: boolean;
  readonly seen: string;
  /** The contract's own number, where the promise has one. */
  readonly bound?: string;
}

/** One number that the run was judged by, for example `drain deadline`, `25 s`. */
export interface ReportNumber {
  readonly name: string;
  readonly value: string;
}

/** All that a report is made from; every form of it shows the same. */
export interface Report {
  readonly title: string;
  readonly numbers: readonly ReportNumber[];
  readonly verdicts: readonly VerdictRow[];
  /** Each belongs to the scenario that is named like its title; one of its own without verdicts. */
  readonly timelines: readonly Timeline[];
}

/** One scenario with all that is known of it. */
export interface ScenarioReport {
  readonly name: string;
  readonly verdicts: readonly VerdictRow[];
  readonly broken: readonly VerdictRow[];
  readonly timelines: readonly Timeline[];
}

/** The scenarios in the order of the report, the ones with broken promises first. */
export function groupScenarios({ verdicts, timelines }: Report): readonly ScenarioReport[] {
  const names = new Set([
    ...verdicts.map(({ scenario }) => scenario),
    ...timelines.map(({ title }) => title),
  ]);
  const scenarios = [...names].map((name) => {
    const own = verdicts.filter(({ scenario }) => scenario === name);
    return {
      name,
      verdicts: own,
      broken: own.filter(({ held }) => !held),
      timelines: timelines.filter(({ title }) => title === name),
    };
  });
  return [
    ...scenarios.filter(({ broken }) => broken.length > 0),
    ...scenarios.filter(({ broken }) => broken.length === 0),
  ];
}

/** The outcome in one sentence, for example `18 of 20 scenarios held every promise, 2 did not.` */
export function outcomeSentence(scenarios: readonly ScenarioReport[]): string {
  const judged = scenarios.filter(({ verdicts }) => verdicts.length > 0);
  if (judged.length === 0) return "No promise was judged.";
  const broken = judged.filter((scenario) => scenario.broken.length > 0).length;
  const noun = judged.length === 1 ? "scenario" : "scenarios";
  if (broken === 0)
    return judged.length === 1
      ? "The scenario held every promise."
      : `All ${judged.length} ${noun} held every promise.`;
  return `${judged.length - broken} of ${judged.length} ${noun} held every promise, ${broken} did not.`;
}
