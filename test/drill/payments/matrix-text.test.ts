import { expect, test } from "vitest";
import { type Cell, cliKills, moments, type Policy } from "./cells.ts";
import { type CellResult, matrixText, progressLine } from "./matrix-text.ts";
import { type CellEvidence, judge } from "./verdict.ts";

const good: CellEvidence = {
  isReached: true,
  payments: ["pi_1"],
  keys: ["k"],
  receipts: ["pi_1"],
  state: "done",
  ackedIn: ["done"],
  messages: { waiting: 0, dead: 0 },
  alarms: [],
};

function resultOf(
  name: string,
  policy: Policy,
  change: Partial<CellEvidence> = {},
  more: Partial<Cell> = {},
): CellResult {
  const moment = moments.find((one) => one.name === name);
  if (moment === undefined) throw new Error(`there is no moment "${name}"`);
  const cell = { moment, policy, ...more };
  const evidence = { ...good, ...change };
  return { cell, evidence, verdict: judge(cell, evidence), tookMs: 9_040 };
}

const double = { payments: ["pi_1", "pi_2"], alarms: ["effect.results-differ"] };
const paused = "SIGSTOP between last check and send";
const [before] = cliKills;

test("the table has a row for each moment, a column for each policy, and says what is wrong", () => {
  const results = [
    resultOf("SIGKILL after START", "replay"),
    resultOf("SIGKILL after START", "park", { parkedWith: 0 }),
    resultOf(paused, "replay", { ...double, alarms: [] }),
    resultOf(paused, "query", double),
    ...(before === undefined
      ? []
      : [resultOf("SIGKILL after START", "park", { parkedWith: 0 }, { cliKill: before })]),
  ];
  expect(matrixText(results).join("\n")).toBe(`
Charges of the invoice at the provider; * parked, then resolved by an operator
                                     replay      query      park      rerun
SIGKILL after START                  1                      1*
SIGSTOP between last check and send  2 BROKEN    2 alarm

The operator's command, killed and run again
                                    SIGKILL after START
CLI killed before its word is kept  1*

Listed: charged twice, for the pause between the last check and the send exceeded settle
  SIGSTOP between last check and send / query: alarm effect.results-differ

Broken promises
  SIGSTOP between last check and send / replay: the invoice was charged 2 times, and nobody was told

kill matrix: 3 kept, 1 listed, 1 broken`);
});

test("a line of progress names the cell, how it went and how long it took", () => {
  expect(progressLine(resultOf("SIGKILL after START", "replay"), 7, 96)).toBe(
    " 7/96    9.0 s  1             SIGKILL after START / replay",
  );
});
