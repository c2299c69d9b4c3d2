import { describe, expect, test } from "vitest";
import { type Bound, expectBound, ledger, queue } from "./support/bounds.ts";

const charge = (timeoutMs: number) => ledger({ effects: [{ name: "charge", timeoutMs }] });

const BOUNDS: readonly Bound[] = [
  {
    rule: "B4 violation",
    where: "the first extension after a long poll",
    holds: {
      ...queue({ waitMs: 15_000 }),
      lease: { visibilityTimeoutMs: 29_000, extendEveryMs: 10_000 },
    },
    broken: {
      ...queue({ waitMs: 15_000 }),
      lease: { visibilityTimeoutMs: 29_000, extendEveryMs: 10_001 },
    },
    message: "queue jobs: V = 29 s must be at least W 15 + 1.1 x H 10.001 + R' 2 + e 1 = 29.0011 s",
    mend: "raise lease.visibilityTimeoutMs to 30000, or lower the queue's waitMs or lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a failed extension",
    holds: { lease: { visibilityTimeoutMs: 45_000 } },
    broken: { lease: { visibilityTimeoutMs: 44_000 } },
    message: "V = 44 s must be at least 2 x H 20 + 2 x R' 2 + e 1 = 45 s",
    mend: "raise lease.visibilityTimeoutMs to 45000, or lower lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a lease margin that is larger than the clock margin",
    holds: { lease: { visibilityTimeoutMs: 45_000, leaseMarginMs: 1_000 } },
    broken: { lease: { visibilityTimeoutMs: 45_000, leaseMarginMs: 1_001 } },
    message: "V = 45 s must be at least 2 x H 20 + 2 x R' 2 + e 1.001 = 45.001 s",
    mend: "raise lease.visibilityTimeoutMs to 46000, or lower lease.extendEveryMs",
  },
  {
    rule: "B4 violation",
    where: "a lease as long as SQS allows",
    holds: { lease: { visibilityTimeoutMs: 43_200_000, extendEveryMs: 21_597_500 } },
    broken: { lease: { visibilityTimeoutMs: 43_199_000, extendEveryMs: 21_597_500 } },
    message: "V = 43199 s must be at least 2 x H 21597.5 + 2 x R' 2 + e 1 = 43200 s",
    mend: "raise lease.visibilityTimeoutMs to 43200000, or lower lease.extendEveryMs",
  },
  {
    rule: "B5 violation",
    where: "the slowest receive",
    holds: { lease: { visibilityTimeoutMs: 16_000, extendEveryMs: 1_000, callTimeoutMs: 500 } },
    broken: { lease: { visibilityTimeoutMs: 15_000, extendEveryMs: 1_000, callTimeoutMs: 500 } },
    message: "queue jobs: V = 15 s must be above W 10 + 5 = 15 s",
    mend: "raise lease.visibilityTimeoutMs to 16000, or lower the queue's waitMs",
  },
  {
    rule: "B6 warning",
    where: "the agreed redelivery delay",
    holds: { lease: { acceptedRedeliveryMs: 60_000 } },
    broken: { lease: { acceptedRedeliveryMs: 59_000 } },
    message: "V = 60 s must be at most the accepted redelivery delay, 59 s",
    mend: "lower lease.visibilityTimeoutMs to 59000, or agree to the delay with lease.acceptedRedeliveryMs 60000",
  },
  {
    rule: "B7 violation",
    where: "the 12 h of SQS",
    holds: { worker: { jobTimeoutMs: 43_199_000 } },
    broken: { worker: { jobTimeoutMs: 43_199_001 } },
    message: "J = 43199.001 s must be at most 43200 - e 1 = 43199 s",
    mend: "lower worker.jobTimeoutMs to 43199000, and split longer work into several jobs",
  },
  {
    rule: "B7 violation",
    where: "ten held messages of a FIFO group",
    holds: { ...queue({}, "jobs.fifo"), worker: { jobTimeoutMs: 4_319_900 } },
    broken: { ...queue({}, "jobs.fifo"), worker: { jobTimeoutMs: 4_319_901 } },
    message:
      "queue jobs.fifo: 10 held messages x J 4319.901 = 43199.01 s must be at most 43200 - e 1 = 43199 s",
    mend: "lower worker.jobTimeoutMs to 4319900, or use a standard queue",
  },
  {
    rule: "B7 violation",
    where: "ten held messages and a margin that ten does not divide",
    holds: {
      ...queue({}, "jobs.fifo"),
      worker: { jobTimeoutMs: 4_319_899 },
      lease: { clockMarginMs: 1_005 },
    },
    broken: {
      ...queue({}, "jobs.fifo"),
      worker: { jobTimeoutMs: 4_319_900 },
      lease: { clockMarginMs: 1_005 },
    },
    message:
      "queue jobs.fifo: 10 held messages x J 4319.9 = 43199 s must be at most 43200 - e 1.005 = 43198.995 s",
    mend: "lower worker.jobTimeoutMs to 4319899, or use a standard queue",
  },
  {
    rule: "B16 violation",
    where: "an effect within its job",
    holds: { preset: "k8s-600", ...charge(599_000) },
    broken: { preset: "k8s-600", ...charge(599_001) },
    message:
      "effect charge: timeout 599.001 + margin 1 = 600.001 s must be at most what a lease of a job " +
      "with J = 600 s can reach, 600 s",
    mend: "lower the timeoutMs of effect charge to 599000, or raise worker.jobTimeoutMs",
  },
  {
    rule: "B16 warning",
    where: "an effect within the drain",
    holds: { preset: "fargate-120", ...charge(104_000) },
    broken: { preset: "fargate-120", ...charge(104_001) },
    message: "effect charge: timeout 104.001 + margin 1 = 105.001 s should be at most D = 105 s",
    mend: "lower the timeoutMs of effect charge to 104000, or take a preset with a longer grace",
  },
];

describe("lease inequalities", () => {
  test.each(BOUNDS)("$rule: $where", (bound) => {
    expectBound(bound);
  });

  test("the table has every rule of the file", () => {
    expect(new Set(BOUNDS.map(({ rule }) => rule.split(" ")[0]))).toEqual(
      new Set(["B4", "B5", "B6", "B7", "B16"]),
    );
  });
});
