/** A report for a terminal: a table of every promise, and at its end what was broken. Pure. */

import { groupScenarios, outcomeSentence, type Report, type VerdictRow } from "./report.ts";

/** How wide the terminal is. */
export interface TableOptions {
  /** @defaultValue 100 columns, also where the output is no terminal */
  readonly columns?: number;
}

const DEFAULT_COLUMNS = 100;
/** Narrower columns would show nothing but their own breaks. */
const LEAST_COLUMN = 12;
const GAP = "  ";
const HEAD = ["", "promise", "seen", "bound"] as const;

/** The lines of the table; nothing depends on colour, and no text of a job can move the cursor. */
export function tableReport(report: Report, options: TableOptions = {}): readonly string[] {
  const scenarios = groupScenarios(report);
  const rows = scenarios.flatMap(({ verdicts }) => verdicts.map(cells));
  const widths = columnWidths([[...HEAD], ...rows], options.columns ?? DEFAULT_COLUMNS);
  const table = scenarios
    .filter(({ verdicts }) => verdicts.length > 0)
    .flatMap(({ name, verdicts, broken }) => [
      `${broken.length === 0 ? "held  " : "BROKEN"}  ${plain(name)}`,
      ...verdicts.flatMap((verdict) => tableRow(cells(verdict), widths)),
      "",
    ]);
  return [
    plain(report.title),
    ...report.numbers.map(({ name, value }) => `  ${plain(name)}: ${plain(value)}`),
    "",
    ...(table.length === 0 ? [] : tableRow(HEAD, widths)),
    ...table,
    ...scenarios.flatMap(({ broken }) => broken.map(brokenLine)),
    outcomeSentence(scenarios),
  ];
}

function cells({ held, promise, seen, bound }: VerdictRow): string[] {
  return [held ? "ok" : "BROKEN", plain(promise), plain(seen), plain(bound ?? "")];
}

function brokenLine({ scenario, promise, seen, bound }: VerdictRow): string {
  const limit = bound === undefined ? "" : ` (bound: ${plain(bound)})`;
  return `BROKEN in ${plain(scenario)}: ${plain(promise)}: ${plain(seen)}${limit}`;
}

/** As wide as their texts; where that is too wide, the widest columns give way first. */
function columnWidths(rows: readonly (readonly string[])[], columns: number): readonly number[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const gaps = GAP.length * HEAD.length;
  while (widths.reduce((sum, width) => sum + width, gaps) > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= LEAST_COLUMN) break;
    widths[widest] = width - 1;
  }
  return widths;
}

/** One row, on as many lines as its longest cell needs. */
function tableRow(row: readonly string[], widths: readonly number[]): string[] {
  const wrapped = row.map((cell, column) => wrap(cell, widths[column] ?? LEAST_COLUMN));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    `${GAP}${wrapped
      .map((lines, column) => (lines[line] ?? "").padEnd(widths[column] ?? 0))
      .join(GAP)}`.trimEnd(),
  );
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** What a terminal would obey becomes visible instead. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, "\ufffd");
}
