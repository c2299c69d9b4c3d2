/** One promise with its verdict, before it is put into a report. */

import type { VerdictRow } from "./report.ts";

/** One promise, judged. */
export interface Judged extends Omit<VerdictRow, "scenario"> {
  /** A bound that a busy machine may miss without anything being wrong. @defaultValue false */
  readonly timing?: true;
}
