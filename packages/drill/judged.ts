/** One promise with its verdict, before it is put into a report, and what a busy machine excuses. Pure. */

import type { VerdictRow } from "./report.ts";

/** One promise, judged. */
export interface Judged extends Omit<VerdictRow, "scenario"> {
  /**
   * How far past its bound it came, where a busy machine may be why; at most 0 when it was in time.
   * Absent where no machine is an excuse.
   */
  readonly overMs?: number;
}

/** As rows of a report. */
export function toRows(judged: readonly Judged[], scenario: string): readonly VerdictRow[] {
  return judged.map(({ overMs: _, ...row }) => ({ ...row, scenario }));
}

/** What a busy machine may cost. Whatever comes later than that has another reason. */
const BUSY_MS = 2_000;

/** Whether nothing is wrong but the time that it took, so that it is worth another try. */
export function isOnlySlow(judged: readonly Judged[]): boolean {
  const broken = judged.filter(({ held }) => !held);
  return broken.length > 0 && broken.every(isSlow);
}

/** As slow in the second try, it is told and does not fail. */
export function excuseSlow(judged: Judged): Judged {
  if (judged.held || !isSlow(judged)) return judged;
  return { ...judged, held: true, seen: `slow, twice: ${judged.seen}` };
}

function isSlow({ overMs }: Judged): boolean {
  return overMs !== undefined && overMs <= BUSY_MS;
}
