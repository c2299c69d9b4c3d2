/** The kill matrix as text: a line while it runs, then the table, then what needs a reader. Pure. */

import { type Cell, cellName, policies } from "./cells.ts";
import type { CellEvidence, Verdict } from "./verdict.ts";

/** One cell that has been run. */
export interface CellResult {
  readonly cell: Cell;
  readonly evidence: CellEvidence;
  readonly verdict: Verdict;
  readonly tookMs: number;
}

/** For whoever waits. */
export function progressLine(result: CellResult, done: number, all: number): string {
  const seconds = (result.tookMs / 1_000).toFixed(1);
  const count = `${String(done).padStart(String(all).length)}/${all}`;
  return `${count}  ${seconds.padStart(5)} s  ${wordOf(result).padEnd(12)}  ${cellName(result.cell)}`;
}

/** The tables, the list of permitted doubles, every broken promise, and one line of counts. */
export function matrixText(results: readonly CellResult[]): readonly string[] {
  const main = results.filter(({ cell }) => cell.cliKill === undefined);
  const cli = results.filter(({ cell }) => cell.cliKill !== undefined);
  const count = (kind: Verdict["kind"]) =>
    results.filter((one) => one.verdict.kind === kind).length;
  return [
    "",
    "Charges of the invoice at the provider; * parked, then resolved by an operator",
    ...table(
      main,
      policies,
      ({ moment }) => moment.name,
      ({ policy }) => policy,
    ),
    ...(cli.length === 0 ? [] : ["", "The operator's command, killed and run again"]),
    ...table(
      cli,
      [...new Set(cli.map(({ cell }) => cell.moment.name))],
      ({ cliKill }) => cliKill?.name ?? "",
      ({ moment }) => moment.name,
    ),
    ...listed(results),
    ...broken(results),
    "",
    `kill matrix: ${count("kept")} kept, ${count("listed")} listed, ${count("broken")} broken`,
  ];
}

function table(
  results: readonly CellResult[],
  columns: readonly string[],
  rowOf: (cell: Cell) => string,
  columnOf: (cell: Cell) => string,
): readonly string[] {
  const rows = [...new Set(results.map(({ cell }) => rowOf(cell)))];
  const first = Math.max(0, ...rows.map((row) => row.length));
  const line = (row: string, words: readonly string[]) =>
    [row.padEnd(first), ...words.map((word, at) => word.padEnd((columns[at] ?? "").length + 4))]
      .join("  ")
      .trimEnd();
  const wordAt = (row: string, column: string) =>
    results.find(({ cell }) => rowOf(cell) === row && columnOf(cell) === column);
  return rows.length === 0
    ? []
    : [
        line("", columns),
        ...rows.map((row) =>
          line(
            row,
            columns.map((column) => {
              const result = wordAt(row, column);
              return result === undefined ? "" : wordOf(result);
            }),
          ),
        ),
      ];
}

function wordOf({ verdict, evidence }: CellResult): string {
  const parked = evidence.parkedWith === undefined ? "" : "*";
  const count = `${evidence.payments.length}${parked}`;
  if (verdict.kind === "kept") return count;
  return verdict.kind === "listed" ? `${count} alarm` : `${count} BROKEN`;
}

function listed(results: readonly CellResult[]): readonly string[] {
  const doubles = results.filter(({ verdict }) => verdict.kind === "listed");
  if (doubles.length === 0) return [];
  return [
    "",
    "Listed: charged twice, for the pause between the last check and the send exceeded settle",
    ...doubles.map(
      ({ cell, evidence }) =>
        `  ${cellName(cell)}: alarm ${[...new Set(evidence.alarms)].join(", ")}`,
    ),
  ];
}

function broken(results: readonly CellResult[]): readonly string[] {
  const bad = results.filter(({ verdict }) => verdict.kind === "broken");
  if (bad.length === 0) return [];
  return [
    "",
    "Broken promises",
    ...bad.flatMap(({ cell, verdict }) =>
      verdict.broken.map((promise) => `  ${cellName(cell)}: ${promise}`),
    ),
  ];
}
