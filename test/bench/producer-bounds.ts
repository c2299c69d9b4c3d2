/** What Leasehold promises about sending, judged from one run. Pure. */

import type { ProducerRow, ProducerSuiteResult } from "./producer-suite.ts";
import type { Verdict } from "./requests-bounds.ts";

/** Ten jobs go in one call, and a last call may have room. */
const MOST_REQUESTS_PER_JOB = 0.101;
const MOST_HEAP_GROWTH = 1.05;
const ENTRIES_PER_CALL = 10;

/** Every promise, in order of the rows. */
export function judgeProducer({ rows }: ProducerSuiteResult): readonly Verdict[] {
  return rows.filter(({ library }) => library.startsWith("leasehold")).flatMap(judgeRow);
}

function judgeRow(row: ProducerRow): readonly Verdict[] {
  const { fault_rate: p, jobs, failed_entries: failed, requests } = row;
  const at = `${row.library}, ${p * 100} % faults`;
  const most = Math.floor(MOST_REQUESTS_PER_JOB * jobs * (1 + 2 * p) + failed / ENTRIES_PER_CALL);
  const growth = row.heap_growth;
  return [
    { promise: `${at}: ${requests} requests, at most ${most}`, holds: requests <= most },
    { promise: `${at}: ${row.missing} jobs missing, at most 0`, holds: row.missing === 0 },
    {
      promise: `${at}: ${row.wrong_results} wrong results and ${row.untold} untold, at most 0`,
      holds: row.wrong_results === 0 && row.untold === 0,
    },
    {
      promise: `${at}: ${row.duplicates} duplicates, ${row.needless_duplicates} without a lost answer, at most 0`,
      holds: row.needless_duplicates === 0,
    },
    {
      promise: `${at}: the heap grew to ${growth} of what it was, at most ${MOST_HEAP_GROWTH}`,
      holds: growth <= MOST_HEAP_GROWTH,
    },
  ];
}
