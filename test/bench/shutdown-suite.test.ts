import { describe, expect, test } from "vitest";
import { judgeShutdown } from "./shutdown-expectations.ts";
import { shutdownScenarios } from "./shutdown-scenarios.ts";
import { QUICK_SCENARIOS, runShutdown } from "./shutdown-suite.ts";

const figures = {
  handled: 1,
  duplicated: 0,
  stranded: 0,
  hidden_ms: 0,
  released: 0,
  lost: 0,
  out_of_order: 0,
  calls: 3,
};

describe("the scenarios", () => {
  test("have names of their own, and a reason for what is promised", () => {
    const names = shutdownScenarios.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining([...QUICK_SCENARIOS]));
    const silent = shutdownScenarios.filter(({ expected }) => expected.because.length < 20);
    expect(silent).toEqual([]);
  });
});

describe("judgeShutdown", () => {
  const expected = { duplicated: 0, stranded: 1, because: "of a reason" };
  const judge = (row: Partial<typeof figures>, library = "leasehold") => {
    const rows = [{ scenario: "a stop", library, ...figures, ...row }];
    return judgeShutdown(rows, [{ name: "a stop", expected }]);
  };

  test("holds for the expected pair alone, better ones not excepted", () => {
    const promise = "a stop: 0 duplicated, 1 stranded: of a reason";
    expect(judge({ stranded: 1 })).toEqual([{ promise, holds: true }]);
    expect(judge({ stranded: 0 })).toEqual([
      { promise: "a stop: 0 duplicated, 0 stranded instead of 0 and 1: of a reason", holds: false },
    ]);
  });

  test("lets nothing be lost or out of order", () => {
    expect(judge({ stranded: 1, lost: 1 })[0]?.holds).toBe(false);
    expect(judge({ stranded: 1, out_of_order: 1 })[0]?.holds).toBe(false);
  });

  test("does not judge peers, and takes what was not run for a deviation", () => {
    expect(judge({ duplicated: 5 }, "squiss-ts")).toEqual([]);
    const notRun = [{ scenario: "a stop", library: "leasehold", not_run: "why" }];
    expect(judgeShutdown(notRun, [{ name: "a stop", expected }])).toEqual([
      { promise: "a stop: not run", holds: false },
    ]);
  });
});

test("a scenario runs with real processes, and the server's record has what came of it", async () => {
  const told: string[] = [];
  const { suite, rows } = await runShutdown(
    { libraries: ["leasehold", "sqs-consumer"], scenarios: ["message arriving after stop"] },
    (line) => told.push(line),
  );
  expect(suite).toBe("shutdown");
  expect(told).toEqual(["shutdown: message arriving after stop"]);
  expect(rows).toEqual([
    expect.objectContaining({
      library: "leasehold",
      handled: 0,
      stranded: 0,
      released: 1,
      lost: 0,
    }),
    expect.objectContaining({ library: "sqs-consumer", handled: 1, stranded: 0, released: 0 }),
  ]);
  expect(judgeShutdown(rows, shutdownScenarios)).toEqual([
    expect.objectContaining({ holds: true }),
  ]);
}, 60_000);
