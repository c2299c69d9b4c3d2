import type { ShutdownReport } from "@leasehold/worker";
import { describe, expect, test } from "vitest";
import { SimClock } from "../support/sim/sim-clock.ts";
import { DrainWatch } from "./drain-watch.ts";

type Row = ShutdownReport["unfinished"][number];

const row: Row = {
  ...{ queue: "jobs", messageId: "m-1", disposal: "released" },
  ...{ started: true, ignoredAbort: false },
};

function reportOf(exitCode: number, ...unfinished: Row[]): ShutdownReport {
  return { exitCode, unfinished } as unknown as ShutdownReport;
}

function setup(incidents: ConstructorParameters<typeof DrainWatch>[0]["incidents"] = []) {
  return new DrainWatch(
    { incidents, jobs: [] },
    () => 0,
    (messageId) => messageId,
  );
}

describe("the end of a drain", () => {
  test.each([
    [0, [], []],
    [75, [row], []],
    [76, [row, { ...row, ignoredAbort: true }], []],
    [
      74,
      [
        { ...row, ignoredAbort: true },
        { ...row, disposal: "lapsing" },
      ],
      [],
    ],
    [143, [row], []],
    [0, [row], ["exits 0 instead of 75"]],
    [75, [], ["exits 75 instead of 0 or 69"]],
    [75, [{ ...row, ignoredAbort: true }], ["exits 75 instead of 76"]],
    [76, [{ ...row, disposal: "lapsing" }], ["exits 76 instead of 74"]],
  ] as const)("by code %i is judged by what is unfinished", (exitCode, rows, broken) => {
    expect(setup().exited("w1", reportOf(exitCode, ...rows))).toEqual(broken);
  });

  test("comes before that of its grace, unless somebody has stopped its process", () => {
    expect(setup().overstayed()).toEqual(["is still there at the end of its grace"]);
    const stopped = { kind: "SIGSTOP", place: 0, atMs: 0, forMs: 1_000 } as const;
    expect(setup([stopped]).overstayed()).toEqual([]);
  });
});

describe("the clock of a fleet", () => {
  test("tells of timers that are set for now without end", async () => {
    const clock = new SimClock();
    const again = () => void clock.schedule(0, again);
    again();
    await expect(clock.runUntil(1_000, () => false)).rejects.toThrow("time stands still at 0 ms");
  });
});
