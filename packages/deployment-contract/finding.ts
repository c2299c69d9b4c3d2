/** What a check of the contract found: which rule, with which numbers, why it matters, what to do. */

/** The inequalities by the names that the design gives them. */
export type Rule =
  | "B1"
  | "B2"
  | "B3"
  | "B4"
  | "B5"
  | "B6"
  | "B7"
  | "B8"
  | "B9"
  | "B10"
  | "B11"
  | "B12"
  | "B13"
  | "B14"
  | "B15"
  | "B16";

/**
 * One broken inequality. A `violation` loses work or does it twice, so the worker refuses to
 * start; a `warning` costs time, money or clarity, and is only told.
 */
export interface Finding {
  readonly rule: Rule;
  readonly severity: "violation" | "warning";
  /** The symbols of the inequality with their values, in the unit that `message` shows. */
  readonly numbers: Readonly<Record<string, number>>;
  /** The inequality with its numbers filled in. */
  readonly message: string;
  /** What happens when it stays broken. */
  readonly reason: string;
  /** Which field to change, and to what. */
  readonly mend: string;
}

/** Findings for a terminal: one block of three lines each, in the order given. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings
    .map(
      ({ rule, severity, message, reason, mend }) =>
        `${rule} ${severity}: ${message}\n    why:  ${reason}\n    mend: ${mend}`,
    )
    .join("\n");
}
