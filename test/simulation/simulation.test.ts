import { describe, expect, test } from "vitest";
import { coverageLines, missing } from "./coverage.ts";
import { type History, historyOf } from "./history.ts";
import { type Profile, profiles } from "./profiles.ts";
import { shrink } from "./shrink.ts";
import { play } from "./world.ts";

const SEEDS = 12;
const WITHIN_MS = 120_000;

describe("a fleet, through any history", () => {
  test.each(Object.keys(profiles) as Profile[])(
    "of the profile %s keeps every promise",
    async (profile) => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const { violations } = await play(historyOf(seed, profile));
        expect(
          violations,
          `npm run simulate -- --profile ${profile} --seed ${seed} --trace`,
        ).toEqual([]);
      }
    },
    WITHIN_MS,
  );

  test("does the same again when it is played again", async () => {
    const history = historyOf(7, "harsh");
    const [one, other] = [
      await play(history, { isTraced: true }),
      await play(history, { isTraced: true }),
    ];
    const ids = (lines: readonly string[]) => {
      const names = new Map<string, string>();
      return lines.map((line) =>
        line.replace(/\b[0-9a-f]{8}\b/g, (id) => {
          names.set(id, names.get(id) ?? `m${names.size}`);
          return names.get(id) ?? id;
        }),
      );
    };
    expect(ids(other.trace)).toEqual(ids(one.trace));
  });
});

describe("the shortest history", () => {
  test("has nothing in it that is not needed", async () => {
    const history = historyOf(9, "harsh");
    const isBroken = async ({ jobs }: History) => jobs.some(({ n }) => n === 2);
    const { jobs, incidents, callFaults } = await shrink(history, isBroken, 1_000);
    expect(jobs).toMatchObject([{ n: 2, steps: [] }]);
    expect([incidents, callFaults]).toEqual([[], []]);
  });
});

describe("what was seen", () => {
  test("is too little when a fault or a state is missing or rare", () => {
    const seen = new Map(Object.entries(profiles.fifo.least));
    const coverage = { profile: "fifo", seeds: 1_000, seen } as const;
    expect(missing(coverage)).toEqual([]);
    const rare = new Map(seen).set("lease.retried", 69);
    rare.delete("lease.lost expired");
    expect(missing({ ...coverage, seen: rare })).toEqual([
      "lease.lost expired: 0 times instead of 20",
      "lease.retried: 69 times instead of 70",
    ]);
    expect(missing({ ...coverage, seeds: 100, seen: new Map() })).toEqual([]);
    expect(coverageLines({ ...coverage, seen: rare })[0]).toBe("fifo: seen in 1000 seeds");
  });
});
