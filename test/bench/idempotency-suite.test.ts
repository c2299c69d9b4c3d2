import { describe, expect, onTestFinished, test } from "vitest";
import { countRequests } from "./guard-costs.ts";
import { type GuardScenario, guardScenarios } from "./guard-scenarios.ts";
import { openGuardTables } from "./guard-tables.ts";
import { pairOf, summaryOf, timeGuards } from "./guard-timing.ts";
import { judgeIdempotency } from "./idempotency-bounds.ts";
import { type GuardRow, type IdempotencyResult, playAll } from "./idempotency-suite.ts";

const TIMEOUT = { timeout: 60_000 };

const pairs = Array.from({ length: 9 }, () => pairOf(1.05, 1));
const timing = {
  ...summaryOf(pairs),
  jobs_per_run: 100,
  ...{ leasehold_p50_ms: 1, leasehold_p99_ms: 2, powertools_p50_ms: 1, powertools_p99_ms: 2 },
};
const cost = {
  ...{ library: "leasehold park", jobs: 100, writes_per_job: 2, reads_per_job: 0 },
  ...{ writes_per_duplicate: 1, reads_per_duplicate: 1 },
};
const row: Extract<GuardRow, { readonly effect_ran: number }> = {
  ...{ scenario: "rejected run", library: "leasehold query" },
  ...{ effect_ran: 1, deliveries: 5, ended: "done", alarms: 0 },
};
const result: IdempotencyResult = {
  suite: "idempotency",
  rows: [row],
  costs: [cost, { ...cost, library: "powertools" }],
  timings: [timing],
};

const judge = (changes: Partial<IdempotencyResult>) =>
  judgeIdempotency({ ...result, ...changes }, guardScenarios);
const missed = (changes: Partial<IdempotencyResult>) =>
  judge(changes)
    .filter(({ holds }) => !holds)
    .map(({ promise }) => promise);

function scenario(name: string): GuardScenario {
  const found = guardScenarios.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

async function openTables() {
  const tables = await openGuardTables();
  onTestFinished(() => tables[Symbol.asyncDispose]());
  return tables;
}

describe("the promises about guarded jobs", () => {
  test("hold for a run that just keeps them", () => {
    expect(missed({})).toEqual([]);
    expect(judge({})).toHaveLength(3);
  });

  test("name an effect that ran too often, ended elsewhere, or raised an alarm", () => {
    const busy = "who finds a job busy has written nothing and removes nothing";
    const once = "effect ran 1, done";
    expect(missed({ rows: [{ ...row, effect_ran: 2 }] })).toEqual([
      `rejected run, query: effect ran 2, done instead of ${once}: ${busy}`,
    ]);
    expect(missed({ rows: [{ ...row, ended: "dead-lettered" }] })).toEqual([
      `rejected run, query: effect ran 1, dead-lettered instead of ${once}: ${busy}`,
    ]);
    expect(missed({ rows: [{ ...row, alarms: 1 }] })).toEqual([
      `rejected run, query: effect ran 1, done, alarms 1 instead of ${once}: ${busy}`,
    ]);
    const notRun: GuardRow = { scenario: row.scenario, library: row.library, not_run: "why" };
    expect(missed({ rows: [notRun] })).toEqual(["rejected run, query: not run"]);
  });

  test("name a write more than the peer makes", () => {
    const costs = [
      { ...cost, writes_per_job: 2.01 },
      { ...cost, library: "powertools" },
    ];
    expect(missed({ costs })).toEqual([
      "leasehold park: 2.01 writes a job, powertools 2, at most as many",
    ]);
  });

  test("hold the last measurement of time to its bound, over enough pairs", () => {
    const slow = { ...timing, median_difference_pct: 5.01 };
    expect(missed({ timings: [slow, timing] })).toEqual([]);
    expect(missed({ timings: [timing, slow] })).toEqual([
      "time of a job in 9 pairs of runs: 5.01 % more than powertools in the median, at most 5 %; before that 5 %",
    ]);
    expect(missed({ timings: [{ ...timing, pairs: pairs.slice(1) }] })).toHaveLength(1);
  });

  test("hold no library to account but Leasehold", () => {
    expect(missed({ rows: [{ ...row, library: "powertools", effect_ran: 2 }] })).toEqual([]);
  });
});

describe("paired runs", () => {
  test("differ by a share of the peer's time, with the middle pair for the median", () => {
    const odd = [pairOf(2, 1), pairOf(3, 4), pairOf(1.1, 1)];
    expect(summaryOf(odd)).toMatchObject({
      median_difference_pct: 10,
      lowest_difference_pct: -25,
      highest_difference_pct: 100,
    });
    expect(summaryOf(odd.slice(0, 2)).median_difference_pct).toBe(37.5);
  });

  test("are as many as asked for, each measured", TIMEOUT, async () => {
    const measured = await timeGuards(await openTables(), { pairs: 2, jobsPerRun: 3 });
    expect(measured.pairs).toHaveLength(2);
    for (const pair of measured.pairs) {
      expect(Math.min(pair.leasehold_ms, pair.powertools_ms)).toBeGreaterThan(0);
    }
  });
});

describe("a measurement of time", () => {
  test("refuses tables in which its jobs are done already", TIMEOUT, async () => {
    const tables = await openTables();
    const setting = { pairs: 1, jobsPerRun: 1 };
    await timeGuards(tables, setting);
    await expect(timeGuards(tables, setting)).rejects.toThrow("found timed-");
  });
});

describe("a guard on the stage", () => {
  test("makes two writes for a job with one effect, whichever it is", TIMEOUT, async () => {
    const tables = await openTables();
    for (const library of ["leasehold park", "powertools"]) {
      expect(await countRequests(tables, library, 3)).toMatchObject({
        writes_per_job: 2,
        reads_per_job: 0,
      });
    }
  });

  test("charges once although its call threw afterwards, unlike the peer", TIMEOUT, async () => {
    const libraries = ["leasehold query", "leasehold park", "powertools"];
    expect(await playAll(scenario("throw after the effect"), libraries)).toMatchObject([
      { effect_ran: 1, ended: "done" },
      { effect_ran: 1, ended: "parked" },
      { effect_ran: 2, ended: "done" },
    ]);
  });

  test(
    "keeps its record when another run is rejected, unlike the middy form",
    TIMEOUT,
    async () => {
      const libraries = ["leasehold query", "powertools middy"];
      expect(await playAll(scenario("rejected run"), libraries)).toMatchObject([
        { effect_ran: 1, ended: "done" },
        { effect_ran: 2, ended: "done" },
      ]);
    },
  );
});
