import {
  assertContract,
  ContractViolationError,
  defineContract,
  formatFindings,
  type PresetName,
  presets,
  verifyContract,
} from "@leasehold/deployment-contract";
import { describe, expect, test } from "vitest";
import { added, findings, ledger, queue } from "./support/bounds.ts";

const DAY = 86_400_000;

describe("verifyContract", () => {
  test.each(Object.keys(presets) as PresetName[])("finds nothing in preset %s", (preset) => {
    const queues = [{ name: "jobs" }, { name: "orders.fifo" }];
    expect(findings({ preset, queues })).toEqual([]);
    expect(findings({ preset, queues, ledger: { kind: "dynamodb" } })).toEqual([]);
  });

  test("tells everything at once, in the order of the rules", () => {
    const found = findings({
      preset: "fargate-120",
      queues: [{ name: "jobs", maxReceiveCount: 4, retentionMs: 60_000 }, { name: "orders.fifo" }],
      platform: {
        graceMs: 125_000,
        autoscalerGraceMs: 3_000,
        liveness: { longestStallMs: 90_000 },
      },
      shutdown: { drainMs: 17_500, abortMs: 120_000, releaseMs: 1 },
      lease: { visibilityTimeoutMs: 20_000, maxBlockedMs: 90_000 },
      worker: { jobTimeoutMs: 43_200_000 },
      ...ledger({ doneRetentionMs: DAY, effects: [{ name: "charge", timeoutMs: 43_200_000 }] }),
    });
    expect(found.map(({ rule, severity }) => `${rule} ${severity}`)).toEqual([
      ...["B1 violation", "B2 violation", "B3 violation", "B3 violation"],
      ...["B4 violation", "B4 violation", "B4 violation", "B5 violation", "B5 violation"],
      ...["B7 violation", "B7 violation", "B8 violation", "B9 violation", "B10 violation"],
      ...["B10 violation", "B12 violation", "B13 violation", "B13 violation"],
      ...["B14 violation", "B16 violation", "B16 warning"],
    ]);
  });

  test("gives the numbers as data, in the unit of the message", () => {
    const [finding] = findings({ shutdown: { marginMs: 4_500 } });
    expect(finding?.numbers).toEqual({ P: 0, D: 20, A: 2, L: 3, F: 2, X: 4.5, G: 30 });
  });

  test("asks a standard queue alone for dead letters that outlive their source", () => {
    const twoWeeks = { retentionMs: 14 * DAY };
    expect(added([], findings(queue(twoWeeks)))).toEqual(["B14 violation"]);
    expect(findings(queue(twoWeeks, "jobs.fifo"))).toEqual([]);
  });
});

describe("assertContract", () => {
  const broken = defineContract({
    preset: "default-30",
    service: "billing",
    queues: [{ name: "jobs" }],
    shutdown: { marginMs: 4_000 },
    lease: { acceptedRedeliveryMs: 30_000, maxBlockedMs: 21_000 },
  });

  test("refuses a contract that contradicts itself, and prints each violation", () => {
    const refuse = () => assertContract(broken);
    expect(refuse).toThrow(ContractViolationError);
    expect(refuse).toThrow(
      [
        "the deployment contract of billing contradicts itself, 2 violations:",
        "B1 violation: P 0 + D 20 + A 2 + L 3 + F 2 + X 4 = 31 s must be at most G = 30 s",
        "    why:  SIGKILL would come before the leases are given back and the acks are sent: " +
          "finished jobs run twice, unfinished ones hide until their lease expires",
        "    mend: raise platform.graceMs to 31000, or lower shutdown.drainMs to 19000",
        "B13 violation: maxBlocked 21 s must be at most D = 20 s",
        "    why:  a blocked handler would keep its leases beyond the drain deadline and die with them",
        "    mend: lower lease.maxBlockedMs to 20000",
      ].join("\n"),
    );
  });

  test("carries the findings and a stable code", () => {
    try {
      assertContract(broken);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof ContractViolationError)) throw error;
      expect(error.code).toBe("CONTRACT_VIOLATED");
      expect(error.findings.map(({ rule }) => rule)).toEqual(["B1", "B13"]);
    }
  });

  test("lets warnings pass", () => {
    const { warnings } = verifyContract(broken);
    expect(formatFindings(warnings)).toBe(
      "B6 warning: V = 60 s must be at most the accepted redelivery delay, 30 s\n" +
        "    why:  after a SIGKILL the job hides until its lease expires, longer than was agreed to\n" +
        "    mend: lower lease.visibilityTimeoutMs to 30000, or agree to the delay with lease.acceptedRedeliveryMs 60000",
    );
    const costly = defineContract({
      preset: "default-30",
      service: "billing",
      queues: [{ name: "jobs" }],
      lease: { acceptedRedeliveryMs: 30_000 },
    });
    expect(() => assertContract(costly)).not.toThrow();
  });
});
