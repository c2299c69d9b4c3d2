import { describe, expect, test } from "vitest";
import { type Bound, expectBound, ledger, queue } from "./support/bounds.ts";

const DAY = 86_400_000;

const BOUNDS: readonly Bound[] = [
  {
    rule: "B9 violation",
    where: "a standard queue with a ledger",
    holds: { ...ledger({}), ...queue({ maxReceiveCount: 100 }) },
    broken: { ...ledger({}), ...queue({ maxReceiveCount: 99 }) },
    message: "queue jobs: maxReceiveCount 99 must be at least 100 (with a ledger)",
    mend: "raise queues[0].maxReceiveCount to 100",
  },
  {
    rule: "B9 violation",
    where: "a FIFO queue with a ledger",
    holds: { ...ledger({}), ...queue({ maxReceiveCount: 1_000 }, "jobs.fifo") },
    broken: { ...ledger({}), ...queue({ maxReceiveCount: 999 }, "jobs.fifo") },
    message: "queue jobs.fifo: maxReceiveCount 999 must be at least 1000 (with a ledger, FIFO)",
    mend: "raise queues[0].maxReceiveCount to 1000",
  },
  {
    rule: "B9 violation",
    where: "no ledger: the receives are the budget",
    holds: queue({ maxReceiveCount: 17 }),
    broken: queue({ maxReceiveCount: 16 }),
    message:
      "queue jobs: maxReceiveCount 16 must be at least 17 (maxAttempts 5 + interruptions 10 + 2, and 5)",
    mend: "raise queues[0].maxReceiveCount to 17",
  },
  {
    rule: "B9 violation",
    where: "no ledger: never below five",
    holds: { ...queue({ maxReceiveCount: 5 }), worker: { maxAttempts: 1, interruptionBudget: 0 } },
    broken: { ...queue({ maxReceiveCount: 4 }), worker: { maxAttempts: 1, interruptionBudget: 0 } },
    message:
      "queue jobs: maxReceiveCount 4 must be at least 5 (maxAttempts 1 + interruptions 0 + 2, and 5)",
    mend: "raise queues[0].maxReceiveCount to 5",
  },
  {
    rule: "B10 violation",
    where: "finished jobs outlive both retentions",
    holds: ledger({ doneRetentionMs: 2_160_000_000 }),
    broken: ledger({ doneRetentionMs: 2_159_999_000 }),
    message:
      "queue jobs: finished jobs kept 24.999988 d must be at least source 4 + DLQ 14 + slack 7 = 25 d",
    mend: "raise ledger.doneRetentionMs to 2160000000",
  },
  {
    rule: "B14 violation",
    where: "a message that is retried to the end",
    holds: queue({ retentionMs: 14_401_000 }),
    broken: queue({ retentionMs: 14_400_000 }),
    message:
      "queue jobs: retention 14400 s must be above 15 retries x (V 60 + backoff 900) = 14400 s",
    mend: "raise queues[0].retentionMs to 14401000, or lower worker.backoffCapMs, maxAttempts or interruptionBudget",
  },
  {
    rule: "B14 violation",
    where: "a dead letter that is as old as its message",
    holds: queue({ retentionMs: 4 * DAY, deadLetter: { retentionMs: 4 * DAY + 1_000 } }),
    broken: queue({ retentionMs: 4 * DAY, deadLetter: { retentionMs: 4 * DAY } }),
    message: "queue jobs: DLQ retention 4 d must be above the source's, 4 d",
    mend: "raise queues[0].deadLetter.retentionMs to 1209600000",
  },
  {
    rule: "B14 warning",
    where: "a dead letter that waits for a person",
    holds: queue({ deadLetter: { retentionMs: 1_209_600_000 } }),
    broken: queue({ deadLetter: { retentionMs: 1_209_599_000 } }),
    message: "queue jobs: DLQ retention 13.999988 d should be 14 d, whatever the source's, 4 d",
    mend: "raise queues[0].deadLetter.retentionMs to 1209600000",
  },
  {
    rule: "B15 warning",
    where: "an autoscaler that plans too many jobs for a worker",
    holds: { worker: { backlogPerWorker: 10 } },
    broken: { worker: { backlogPerWorker: 11 } },
    message: "backlog per worker 11 should be N = 10",
    mend: "set worker.backlogPerWorker to 10, or leave it out",
  },
  {
    rule: "B15 warning",
    where: "an autoscaler that plans too few",
    holds: { worker: { backlogPerWorker: 10 } },
    broken: { worker: { backlogPerWorker: 9 } },
    message: "backlog per worker 9 should be N = 10",
    mend: "set worker.backlogPerWorker to 10, or leave it out",
  },
  {
    rule: "B15 warning",
    where: "the in-flight limit of SQS",
    holds: { worker: { expectedWorkers: 6_000 } },
    broken: { worker: { expectedWorkers: 6_001 } },
    message: "6001 workers x (N 10 + hold 10) = 120020 messages in flight should be at most 120000",
    mend: "lower worker.expectedWorkers to 6000, lower worker.holdLimit, or split the queue",
  },
];

describe("queue inequalities", () => {
  test.each(BOUNDS)("$rule: $where", (bound) => {
    expectBound(bound);
  });

  test("the table has every rule of the file", () => {
    expect(new Set(BOUNDS.map(({ rule }) => rule.split(" ")[0]))).toEqual(
      new Set(["B9", "B10", "B14", "B15"]),
    );
  });
});
