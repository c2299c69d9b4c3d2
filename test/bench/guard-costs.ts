/** What a guarded job asks of its store, counted between the two. */

import { startFaultProxy } from "@leasehold/local-aws";
import type { GuardTables } from "./guard-tables.ts";
import { guards } from "./guards.ts";

/** Requests of one guard. */
export interface GuardCosts {
  readonly library: string;
  readonly jobs: number;
  readonly writes_per_job: number;
  readonly reads_per_job: number;
  /** Of a second message about a job that is done; refused writes count, as they cost. */
  readonly writes_per_duplicate: number;
  readonly reads_per_duplicate: number;
}

const provider = { charge: async () => ({ id: "ch_1" }), find: async () => undefined };

/** Guards so many jobs with one effect each, then delivers each of them again. */
export async function countRequests(
  tables: GuardTables,
  library: string,
  jobs: number,
): Promise<GuardCosts> {
  await using proxy = await startFaultProxy({ target: tables.endpoint, logLimit: LOG_LIMIT });
  const parts = { endpoint: proxy.endpoint, tables: tables.names, provider, leaseMs: 60_000 };
  using guard = guards[library]?.(parts);
  const round = async (message: string) => {
    const before = proxy.log.length;
    for (let job = 0; job < jobs; job += 1) {
      const jobId = `counted-${job}`;
      const messageId = `${message}-${job}`;
      const answer = await guard?.deliver({ jobId, messageId, receiveCount: 1 });
      if (answer?.kind !== "acked") throw new Error(`${library} did not do ${jobId}`);
    }
    const requests = proxy.log.slice(before);
    const reads = requests.filter(({ action }) => action === "GetItem").length;
    return { writes: (requests.length - reads) / jobs, reads: reads / jobs };
  };
  const first = await round("m");
  const again = await round("d");
  return {
    ...{ library, jobs, writes_per_job: first.writes, reads_per_job: first.reads },
    ...{ writes_per_duplicate: again.writes, reads_per_duplicate: again.reads },
  };
}

/** More than any count makes. */
const LOG_LIMIT = 100_000;
