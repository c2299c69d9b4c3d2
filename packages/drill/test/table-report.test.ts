import { type Report, tableReport } from "@leasehold/drill";
import { describe, expect, test } from "vitest";

function setup(change: Partial<Report> = {}): Report {
  return {
    title: "drill on embedded",
    numbers: [{ name: "drain deadline", value: "2.5 s" }],
    verdicts: [
      { scenario: "idle", promise: "no job is lost", held: true, seen: "0 lost", bound: "0" },
      { scenario: "twin", promise: "no effect happens twice", held: false, seen: "2 charges" },
    ],
    timelines: [],
    ...change,
  };
}

describe("tableReport", () => {
  test("shows every promise, and names the broken ones once more at its end", () => {
    expect(tableReport(setup())).toEqual([
      "drill on embedded",
      "  drain deadline: 2.5 s",
      "",
      "          promise                  seen       bound",
      "BROKEN  twin",
      "  BROKEN  no effect happens twice  2 charges",
      "",
      "held    idle",
      "  ok      no job is lost           0 lost     0",
      "",
      "BROKEN in twin: no effect happens twice: 2 charges",
      "1 of 2 scenarios held every promise, 1 did not.",
    ]);
  });

  test("breaks long cells where the terminal is narrow, and never a line of the table", () => {
    const seen = "the first worker released it and the second one started 412 ms later";
    const lines = tableReport(
      setup({ verdicts: [{ scenario: "long", promise: "next start soon", held: true, seen }] }),
      { columns: 50 },
    );

    expect(lines.slice(3, -1)).toEqual([
      "      promise          seen                  bound",
      "held    long",
      "  ok  next start soon  the first worker",
      "                       released it and the",
      "                       second one started",
      "                       412 ms later",
      "",
    ]);
  });

  test("leaves a text no way to move the cursor", () => {
    const lines = tableReport(
      setup({
        verdicts: [
          { scenario: "a\u001b[2J", promise: "p\r", held: false, seen: "s\u0007", bound: "b\n" },
        ],
      }),
    );

    expect(lines.join("")).not.toMatch(/\p{Cc}/u);
    expect(lines.at(-2)).toBe("BROKEN in a\ufffd[2J: p\ufffd: s\ufffd (bound: b\ufffd)");
  });

  test("says that nothing was judged when there are no verdicts", () => {
    expect(tableReport(setup({ verdicts: [], numbers: [] }))).toEqual([
      "drill on embedded",
      "",
      "No promise was judged.",
    ]);
  });
});
