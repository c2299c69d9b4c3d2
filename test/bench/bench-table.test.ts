import { expect, test } from "vitest";
import { formatTable } from "./bench-table.ts";

test("a table has every column of every row, words to the left and numbers to the right", () => {
  expect(
    formatTable([
      { library: "leasehold", calls: 3 },
      { library: "squiss-ts", calls: 120, not_run: "why" },
    ]).split("\n"),
  ).toEqual([
    "library    calls  not_run",
    "---------  -----  -------",
    "leasehold      3",
    "squiss-ts    120  why",
  ]);
});
