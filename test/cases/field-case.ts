/** What a case from the field is: a public report, what is right, and the test that holds it. */

import type { Break } from "../support/mutant-tree.ts";

/** A fault that real users met, as a test of ours. */
export interface FieldCase {
  /** The report as it stands, in brackets, at the end of the test's name. */
  readonly report: string;
  readonly symptom: string;
  readonly right: string;
  /** From the root. */
  readonly file: string;
  /** The test's name without the report. */
  readonly test: string;
  /** A one-line break of the code that this test must catch. */
  readonly break: Break;
}
