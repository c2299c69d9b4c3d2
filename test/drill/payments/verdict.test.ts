import { describe, expect, test } from "vitest";
import { type Cell, cells, moments, type Policy } from "./cells.ts";
import { type CellEvidence, judge } from "./verdict.ts";

function cellOf(name: string, policy: Policy): Cell {
  const moment = moments.find((one) => one.name === name);
  if (moment === undefined) throw new Error(`there is no moment "${name}"`);
  return { moment, policy };
}

const good: CellEvidence = {
  isReached: true,
  payments: ["pi_1"],
  keys: ["k", "k"],
  receipts: ["pi_1"],
  state: "done",
  ackedIn: ["done"],
  messages: { waiting: 0, dead: 0 },
  alarms: [],
};

const afterCharge = cellOf("SIGKILL after the provider got it", "replay");
const paused = "SIGSTOP between last check and send";

describe("the verdict on a cell", () => {
  test("is kept when the invoice was charged once and everything ended", () => {
    expect(judge(afterCharge, good)).toEqual({ kind: "kept", broken: [] });
  });

  test.each<[string, Partial<CellEvidence>, string]>([
    [
      "the moment never came",
      { isReached: false, problem: "no such request came" },
      "the moment never came: no such request came",
    ],
    [
      "two charges",
      { payments: ["pi_1", "pi_2"] },
      "the invoice was charged 2 times, and nobody was told",
    ],
    [
      "two charges in spite of an alarm",
      { payments: ["pi_1", "pi_2"], alarms: ["effect.results-differ"] },
      "the invoice was charged 2 times, with alarm effect.results-differ",
    ],
    ["another key", { keys: ["k", "l"] }, "the provider was given 2 keys"],
    ["a job that is not done", { state: "open" }, "the record is open, not done"],
    ["no later effect", { receipts: [] }, "the later effect ran for nothing"],
    [
      "a later effect that ran twice",
      { receipts: ["pi_1", "pi_1"] },
      "the later effect ran for pi_1 pi_1",
    ],
    [
      "a receipt of a payment that is none",
      { receipts: ["pi_9"] },
      "the later effect ran for pi_9",
    ],
    [
      "a delete before the record is done",
      { ackedIn: ["open", "done"] },
      "a message was deleted while the record was open",
    ],
    [
      "a message that is left",
      { messages: { waiting: 1, dead: 0 } },
      "1 messages are left in the queue",
    ],
    ["a dead letter", { messages: { waiting: 0, dead: 1 } }, "1 messages are dead letters"],
    [
      "a park that nobody needed",
      { parkedWith: 0 },
      "it was parked although the outcome was known or could be found out",
    ],
    [
      "a job that never ended",
      { problem: "the job did not come to its end" },
      "the job did not come to its end",
    ],
  ])("is broken by %s", (_, change, promise) => {
    expect(judge(afterCharge, { ...good, ...change })).toEqual({
      kind: "broken",
      broken: [promise],
    });
  });

  test("is broken by no charge at all", () => {
    const { broken } = judge(afterCharge, { ...good, payments: [], receipts: [] });
    expect(broken[0]).toBe("the invoice was charged 0 times, and nobody was told");
  });

  test("lists two charges under query only where the pause exceeds settle, and only with an alarm", () => {
    const double = { ...good, payments: ["pi_1", "pi_2"], alarms: ["effect.results-differ"] };
    expect(judge(cellOf(paused, "query"), double).kind).toBe("listed");
    expect(judge(cellOf(paused, "query"), { ...double, alarms: [] }).kind).toBe("broken");
    expect(judge(cellOf(paused, "replay"), double).kind).toBe("broken");
    expect(judge(cellOf("SIGSTOP between START and send", "query"), double).kind).toBe("broken");
    expect(judge(cellOf(paused, "query"), good).kind).toBe("kept");
  });

  test("wants park to ask an operator exactly where nobody can know", () => {
    const unknown = cellOf("SIGKILL after START", "park");
    const known = cellOf("SIGKILL after COMPLETE", "park");
    expect(judge(unknown, { ...good, parkedWith: 0 }).kind).toBe("kept");
    expect(judge(unknown, good).broken).toEqual([
      "nobody could know whether it was charged, and it was not parked",
    ]);
    expect(judge(known, { ...good, parkedWith: 1 }).kind).toBe("broken");
    expect(judge(unknown, { ...good, parkedWith: 2 }).broken).toContain(
      "the invoice was charged 2 times before it was parked",
    );
  });

  test("hands on what went wrong with the operator's command", () => {
    const commandProblem = "leasehold ledger resolve ended with 1: no table";
    const parked = cellOf("SIGKILL after START", "park");
    expect(judge(parked, { ...good, parkedWith: 0, commandProblem }).broken).toEqual([
      commandProblem,
    ]);
  });
});

describe("the matrix", () => {
  test("has every moment under every policy, and the operator's command at each of its steps", () => {
    expect(cells.filter(({ cliKill }) => cliKill === undefined)).toHaveLength(4 * 22);
    expect(cells.filter(({ cliKill }) => cliKill !== undefined)).toHaveLength(4 * 2);
    expect(new Set(moments.map(({ name }) => name)).size).toBe(22);
  });
});
