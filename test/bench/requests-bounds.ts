/** What Leasehold promises about its requests, judged from one run. Pure. */

import type { RequestsResult, RequestsRow } from "./requests-suite.ts";

/** One promise and whether this run kept it. */
export interface Verdict {
  readonly promise: string;
  readonly holds: boolean;
}

const MOST_REQUESTS_PER_INSTANT_JOB = 0.21;
const MOST_DELETES_PER_JOB = 0.12;
const MOST_CLAIM_DELAY_MS = 100;
/** Ten leases go in one call; jitter and late arrivals cost a few more. */
const MOST_EXTENSION_SHARE = 0.12;

/** Every promise, in order of the rows. */
export function judgeRequests({ rows, extensions }: RequestsResult): readonly Verdict[] {
  const own = rows.filter(({ library }) => library === "leasehold");
  return [...own.flatMap(judgeRow), ...judgeExtensions(extensions)];
}

function judgeRow(row: RequestsRow): readonly Verdict[] {
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
      promise: `${at}: p99 claim delay ${row.claim_delay_p99_ms} ms, at most ${MOST_CLAIM_DELAY_MS}`,
      holds: row.claim_delay_p99_ms <= MOST_CLAIM_DELAY_MS,
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
