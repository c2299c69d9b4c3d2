import { describe, expect, test } from "vitest";
import { consumers } from "./consumers.ts";
import { judgeRequests } from "./requests-bounds.ts";
import { measure, percentile, type RequestsRow, slotDelays } from "./requests-suite.ts";

const row: RequestsRow = {
  library: "leasehold",
  handler_ms: 0,
  spread: 0,
  concurrency: 20,
  jobs: 100,
  receives: 10,
  deletes: 10,
  changes: 0,
  requests_per_job: 0.2,
  deletes_per_job: 0.1,
  jobs_per_second: 100,
  claim_delay_p99_ms: 5,
};

function broken(rows: readonly RequestsRow[], calls: readonly [string, number][] = []) {
  const extensions = calls.map(([library, extension_calls]) => ({
    library,
    jobs: 100,
    periods: 6,
    extension_calls,
  }));
  const verdicts = judgeRequests({ suite: "requests", rows, extensions });
  return verdicts.filter(({ holds }) => !holds).map(({ promise }) => promise);
}

describe("the delay of a claim", () => {
  test("is what a slot stands empty between two jobs", () => {
    expect(slotDelays([0, 0, 12, 30], [10, 25, 40, 50], 2)).toEqual([2, 5]);
  });

  test("counts nothing for the first jobs, which no slot has waited for", () => {
    expect(slotDelays([0, 1, 2], [10, 11, 12], 3)).toEqual([]);
  });

  test("at the 99th percentile is the worst of a hundred but one", () => {
    expect(
      percentile(
        Array.from({ length: 100 }, (_, n) => n + 1),
        0.99,
      ),
    ).toBe(99);
    expect(percentile([], 0.99)).toBe(0);
  });
});

describe("the promises of the bench", () => {
  test("hold for a run that keeps them", () => {
    expect(
      broken(
        [row, { ...row, handler_ms: 50 }],
        [
          ["leasehold", 60],
          ["sqs-consumer batchSize 10", 600],
        ],
      ),
    ).toEqual([]);
  });

  test("name what a run has missed", () => {
    expect(
      broken(
        [
          { ...row, requests_per_job: 0.22 },
          { ...row, handler_ms: 50, deletes_per_job: 0.13, claim_delay_p99_ms: 101 },
        ],
        [
          ["leasehold", 73],
          ["sqs-consumer batchSize 10", 600],
        ],
      ),
    ).toEqual([
      "0 ms handlers at concurrency 20: 0.22 requests a job, at most 0.21",
      "50 ms handlers at concurrency 20: 0.13 deletes a job, at most 0.12",
      "50 ms handlers at concurrency 20: p99 claim delay 101 ms beside 0 ms, at most 100 added",
      "extensions: 73 calls, sqs-consumer 600, at most 0.12 of it",
    ]);
  });

  test("take from the delay what the bare loop has on the same machine, and do not fail by it", () => {
    const slow = { ...row, handler_ms: 50, claim_delay_p99_ms: 150 };
    const bare = { ...slow, library: "bare loop", claim_delay_p99_ms: 49 };
    expect(broken([slow, { ...bare, claim_delay_p99_ms: 50 }])).toEqual([]);
    const verdicts = judgeRequests({ suite: "requests", rows: [slow, bare], extensions: [] });
    expect(verdicts.map(({ holds, isTimed }) => [holds, isTimed])).toEqual([
      [true, undefined],
      [false, true],
    ]);
  });

  test("are for even handlers; uneven ones are shown", () => {
    expect(broken([{ ...row, handler_ms: 50, spread: 0.5, deletes_per_job: 0.3 }])).toEqual([]);
  });

  test("do not judge the peers", () => {
    expect(broken([{ ...row, library: "squiss-ts", requests_per_job: 3 }])).toEqual([]);
  });
});

test("of a hundred instant jobs a batch shares its calls, and one handled alone does not", async () => {
  const setting = { handlerMs: 0, concurrency: 20, jobs: 100 };
  const rows: RequestsRow[] = [];
  for (const consumer of consumers) rows.push(await measure(consumer, setting));
  const told = rows.map(({ library, jobs, deletes }) => [library, jobs, deletes === jobs]);
  expect(told).toEqual([
    ["leasehold", 100, false],
    ["sqs-consumer default", 100, true],
    ["sqs-consumer batchSize 10", 100, true],
    ["squiss-ts", 100, false],
    ["bare loop", 100, false],
  ]);
  for (const { receives } of rows) expect(receives).toBeGreaterThanOrEqual(10);
}, 60_000);
