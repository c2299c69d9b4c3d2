import { describe, expect, test } from "vitest";
import { LedgerWorld, type Policy, type ScheduleReport } from "./simulation/ledger-world.ts";

/** 20,000 in CI: LEASEHOLD_LEDGER_SCHEDULES=20000. */
const SCHEDULES = Number(process.env["LEASEHOLD_LEDGER_SCHEDULES"] ?? 300);
const FIRST_SEED = Number(process.env["LEASEHOLD_LEDGER_SEED"] ?? 1);

async function runAll(policy: Policy, judge: (report: ScheduleReport) => void) {
  const seen: Record<string, number> = {};
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed += 1) {
    try {
      const report = await new LedgerWorld(seed, policy).run();
      judge(report);
      for (const [sight, count] of Object.entries(report.seen)) {
        seen[sight] = (seen[sight] ?? 0) + count;
      }
    } catch (error) {
      throw new Error(`policy ${policy}, seed ${seed}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return seen;
}

describe("an effect, over any schedule", () => {
  test.each(["replay", "query", "park", "rerun"] as const)(
    "happens as its policy %s says",
    async (policy) => {
      const startedAt = process.hrtime.bigint();
      const seen = await runAll(policy, ({ applied, declined, state, isExcused }) => {
        expect(state).toBe("done");
        if (declined) expect(applied).toBe(0);
        else if (policy === "rerun" || isExcused) expect(applied).toBeGreaterThanOrEqual(1);
        else expect(applied).toBe(1);
      });
      console.log(policy, seen, Number(process.hrtime.bigint() - startedAt) / 1e6 / SCHEDULES);
    },
    600_000,
  );
});
