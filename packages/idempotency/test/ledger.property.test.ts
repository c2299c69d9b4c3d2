import { describe, expect, test } from "vitest";
import {
  LedgerWorld,
  type Policy,
  type ScheduleReport,
  SETTLE_MS,
  type Sight,
  TIMEOUT_MS,
} from "./simulation/ledger-world.ts";
import { PowertoolsWorld } from "./simulation/powertools-world.ts";

/** Schedules for each policy. CI runs 20,000; a seed that failed is run alone by count 1. */
const SCHEDULES = Number(process.env["LEDGER_SCHEDULES"] ?? 300);
const FIRST_SEED = Number(process.env["LEDGER_SEED"] ?? 1);
const WITHIN_MS = 60_000 + SCHEDULES * 50;

const policies = ["replay", "query", "park", "rerun"] as const;

/** What every run must have seen, over all policies: less would prove nothing. */
const SEEN_PER_SCHEDULE: Readonly<Partial<Record<Sight, number>>> = {
  takeovers: 0.05,
  lateCompletions: 0.05,
  zombies: 0.05,
  lostReplies: 0.05,
  busy: 0.05,
  parks: 0.05,
  crashes: 0.05,
  declined: 0.05,
  redrives: 0.01,
  cancels: 0.01,
};

/** Charges that were applied twice under `query`, and how many of them only the dead knew of. */
const doubled = { all: 0, untold: 0 };

const seen = new Map<string, number>();

async function runAll(policy: Policy, judge: (report: ScheduleReport) => void): Promise<void> {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed += 1) {
    try {
      const report = await new LedgerWorld(seed, policy).run();
      judge(report);
      for (const [sight, count] of Object.entries(report.seen)) {
        seen.set(sight, (seen.get(sight) ?? 0) + count);
      }
    } catch (cause) {
      const again = `LEDGER_SEED=${seed} LEDGER_SCHEDULES=1`;
      throw new Error(`policy ${policy}, ${again}: ${(cause as Error).message}`, { cause });
    }
  }
}

/** A second charge is one that stood still before its sending; whoever lives to see it says so. */
function judgeDoubled({ charges, alarms, applied }: ScheduleReport): void {
  if (applied < 2) return;
  doubled.all += 1;
  const overdue = charges.filter(
    ({ pausedMs, lateMs }) => pausedMs > SETTLE_MS && lateMs > TIMEOUT_MS + SETTLE_MS,
  );
  expect(overdue.length).toBeGreaterThanOrEqual(applied - 1);
  if (alarms.length > 0) return;
  expect(overdue.some(({ isOrphan }) => isOrphan)).toBe(true);
  doubled.untold += 1;
}

describe("an effect, over any schedule", () => {
  test.each(policies)(
    "happens as its policy %s says, and its job comes to an end",
    async (policy) => {
      await runAll(policy, (report) => {
        const { applied, declined, state, isExcused } = report;
        if (policy === "query") judgeDoubled(report);
        expect(state === "done" || state === "cancelled").toBe(true);
        if (declined) expect(applied).toBe(0);
        else if (state === "cancelled")
          expect(isExcused || policy === "rerun" || applied <= 1).toBe(true);
        else if (policy === "rerun" || isExcused) expect(applied).toBeGreaterThanOrEqual(1);
        else expect(applied).toBe(1);
      });
    },
    WITHIN_MS,
  );

  test("was doubled under query often enough to tell, and nearly always some worker lived to tell it", () => {
    if (SCHEDULES < 3_000) return;
    expect(doubled.all).toBeGreaterThanOrEqual(SCHEDULES * 0.003);
    expect(doubled.untold).toBeLessThanOrEqual(doubled.all * 0.2);
  });

  test("was taken over, completed late, parked and all the rest often enough", () => {
    if (SCHEDULES < 100) return;
    for (const [sight, share] of Object.entries(SEEN_PER_SCHEDULE)) {
      expect([sight, seen.get(sight) ?? 0]).toEqual([sight, expect.any(Number)]);
      expect(seen.get(sight) ?? 0, sight).toBeGreaterThanOrEqual(share * SCHEDULES);
    }
  });

  test(
    "is neither refused nor fenced by its own worker when answers are lost",
    async () => {
      let lost = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed += 1) {
        const report = await new LedgerWorld(seed, "park", "gentle").run();
        lost += report.seen.lostReplies;
        const { deliveries, state, alarms } = report;
        expect({ seed, deliveries, state, alarms }).toEqual({
          ...{ seed, deliveries: 1, state: "done", alarms: [] },
        });
      }
      expect(lost).toBeGreaterThanOrEqual(SCHEDULES / 2);
    },
    WITHIN_MS,
  );

  test(
    "happens twice in a fifth of them under a lock that its owner deletes",
    async () => {
      let doubled = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SCHEDULES; seed += 1) {
        if ((await new PowertoolsWorld(seed).run()) > 1) doubled += 1;
      }
      if (SCHEDULES >= 100) expect(doubled / SCHEDULES).toBeGreaterThanOrEqual(0.2);
    },
    WITHIN_MS,
  );
});
