/** What Leasehold promises about its requests, judged from one run. Pure. */

import type { RequestsResult, RequestsRow } from "./requests-suite.ts";

/** One promise and whether this run kept it. */
export interface Verdict {
  readonly promise: string;
  readonly holds: boolean;
  /** It depends on the machine, too: told, but no reason to fail. */
  readonly isTimed?: boolean;
}

const MOST_REQUESTS_PER_INSTANT_JOB = 0.21;
const MOST_DELETES_PER_JOB = 0.12;
const MOST_CLAIM_DELAY_MS = 100;
/** Ten leases go in one call; jitter and late arrivals cost a few more. */
const MOST_EXTENSION_SHARE = 0.12;

/** Every promise, in order of the rows. */
export function judgeRequests({ rows, extensions }: RequestsResult): readonly Verdict[] {
  const own = rows.filter(({ library }) => library === "leasehold");
  // Promised for jobs of one length; how uneven ones fare is shown beside them.
  const judged = own.filter(({ spread }) => spread === 0);
  return [
    ...judged.flatMap((row) => judgeRow(row, bareDelayMs(rows, row))),
    ...judgeExtensions(extensions),
  ];
}

/** What this machine itself takes to fill a slot; 0 when no bare loop ran beside it. */
function bareDelayMs(rows: readonly RequestsRow[], row: RequestsRow): number {
  const bare = rows.find(
    ({ library, handler_ms, concurrency, spread }) =>
      library === "bare loop" &&
      handler_ms === row.handler_ms &&
      concurrency === row.concurrency &&
      spread === row.spread,
  );
  return bare?.claim_delay_p99_ms ?? 0;
}

function judgeRow(row: RequestsRow, bareMs: number): readonly Verdict[] {
  const at = `${row.handler_ms} ms handlers at concurrency ${row.concurrency}`;
  if (row.handler_ms === 0) {
    const promise = `${at}: ${row.requests_per_job} requests a job, at most ${MOST_REQUESTS_PER_INSTANT_JOB}`;
    return [{ promise, holds: row.requests_per_job <= MOST_REQUESTS_PER_INSTANT_JOB }];
  }
  return [
    {
      promise: `${at}: ${row.deletes_per_job} deletes a job, at most ${MOST_DELETES_PER_JOB}`,
      holds: row.deletes_per_job <= MOST_DELETES_PER_JOB,
    },
    {
      promise: `${at}: p99 claim delay ${row.claim_delay_p99_ms} ms beside ${bareMs} ms, at most ${MOST_CLAIM_DELAY_MS} added`,
      holds: row.claim_delay_p99_ms - bareMs <= MOST_CLAIM_DELAY_MS,
      isTimed: true,
    },
  ];
}

function judgeExtensions(extensions: RequestsResult["extensions"]): readonly Verdict[] {
  const calls = (library: string) =>
    extensions.find((row) => row.library === library)?.extension_calls;
  const [own, peer] = [calls("leasehold"), calls("sqs-consumer batchSize 10")];
  if (own === undefined || peer === undefined) return [];
  const promise = `extensions: ${own} calls, sqs-consumer ${peer}, at most ${MOST_EXTENSION_SHARE} of it`;
  return [{ promise, holds: own <= MOST_EXTENSION_SHARE * peer }];
}
