/** Rows as a table for people. Pure. */

/** A row; columns stand in the order in which the rows name them. */
export type TableRow = Readonly<Record<string, string | number>>;

/** An aligned table with a header; numbers stand to the right, a cell that a row lacks is empty. */
export function formatTable(rows: readonly TableRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => String(row[column] ?? "")));
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...cells.map((line) => line[at]?.length ?? 0)),
  );
  const isNumber = columns.map((column) => rows.some((row) => typeof row[column] === "number"));
  const write = (line: readonly string[]) =>
    line
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        return isNumber[at] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width));
  return [columns, rule, ...cells].map(write).join("\n");
}
