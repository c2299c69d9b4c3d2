import { describe, expect, test } from "vitest";
import { judgeRequests } from "./requests-bounds.ts";
import { percentile, type RequestsRow, slotDelays } from "./requests-suite.ts";

const row: RequestsRow = {
  library: "leasehold",
  handler_ms: 0,
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
      "50 ms handlers at concurrency 20: p99 claim delay 101 ms, at most 100",
      "extensions: 73 calls, sqs-consumer 600, at most 0.12 of it",
    ]);
  });

  test("do not judge the peers", () => {
    expect(broken([{ ...row, library: "squiss-ts", requests_per_job: 3 }])).toEqual([]);
  });
});
