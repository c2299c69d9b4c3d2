import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ExitFacts,
  forcedExitCode,
  judgeExit,
  type UnfinishedJob,
} from "../shutdown-report.ts";

const CLEAN: ExitFacts = { unfinished: [], pollsLeft: [], exitZeroOnRelease: false };
const FAULT = { name: "TypeError", message: "x is not a function" };

function unfinished(changes: Partial<UnfinishedJob> = {}): UnfinishedJob {
  return {
    queue: "jobs",
    messageId: "m-1",
    disposal: "released",
    started: true,
    ignoredAbort: false,
    ...changes,
  };
}

describe("the exit code", () => {
  test.each<[string, Partial<ExitFacts>, number]>([
    ["0 when all is settled", {}, 0],
    [
      "0 when only unstarted work was given back",
      { unfinished: [unfinished({ started: false })] },
      0,
    ],
    ["69 when a queue was out of reach at the start", { unreachable: FAULT }, 69],
    ["75 when unfinished work was given back", { unfinished: [unfinished()] }, 75],
    ["75 when a lease was lost", { unfinished: [unfinished({ disposal: "lost" })] }, 75],
    [
      "76 when a handler ignored its abort",
      { unfinished: [unfinished({ ignoredAbort: true })] },
      76,
    ],
    [
      "74 when a lease was left to lapse",
      { unfinished: [unfinished({ disposal: "lapsing" })] },
      74,
    ],
    ["70 after an internal fault", { fault: FAULT }, 70],
    ["143 when SIGTERM forced the end", { forcedBy: "SIGTERM" }, 143],
    ["130 when SIGINT forced the end", { forcedBy: "SIGINT" }, 130],
  ])("is %s", (_, facts, exitCode) => {
    expect(judgeExit({ ...CLEAN, ...facts }).exitCode).toBe(exitCode);
  });

  test("is 0 after released work when the platform wants that, but not after worse", () => {
    const quiet = { ...CLEAN, exitZeroOnRelease: true };
    expect(judgeExit({ ...quiet, unfinished: [unfinished()] }).exitCode).toBe(0);
    const ignoring = [unfinished({ ignoredAbort: true })];
    expect(judgeExit({ ...quiet, unfinished: ignoring }).exitCode).toBe(76);
  });

  test("says in one sentence what it means", () => {
    expect(
      judgeExit({ ...CLEAN, unfinished: [unfinished()], pollsLeft: ["jobs", "jobs"] }).summary,
    ).toBe(
      "the drain deadline came first: 1 job given back unfinished; 2 open polls were left on jobs: " +
        "what they bring is visible after its visibility timeout",
    );
    expect(judgeExit({ ...CLEAN, fault: FAULT }).summary).toBe(
      "internal fault: TypeError: x is not a function",
    );
  });

  test("is the worst of all that is true, over every mixture", () => {
    const worstFirst: [code: number, facts: Partial<ExitFacts>][] = [
      [forcedExitCode("SIGTERM"), { forcedBy: "SIGTERM" }],
      [70, { fault: FAULT }],
      [74, { unfinished: [unfinished({ disposal: "lapsing" })] }],
      [76, { unfinished: [unfinished({ ignoredAbort: true })] }],
      [75, { unfinished: [unfinished()] }],
      [69, { unreachable: FAULT }],
      [0, {}],
    ];
    fc.assert(
      fc.property(fc.subarray(worstFirst, { minLength: 1 }), (chosen) => {
        const mixed = {
          ...CLEAN,
          ...Object.assign({}, ...chosen.map(([, facts]) => facts)),
          unfinished: chosen.flatMap(([, facts]) => facts.unfinished ?? []),
        };
        expect(judgeExit(mixed).exitCode).toBe(chosen[0]?.[0]);
      }),
    );
  });
});
