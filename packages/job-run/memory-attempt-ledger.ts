/** The attempt ledger in memory: bounded, of this process only. */

import type {
  AttemptDelivery,
  AttemptHistory,
  AttemptLedger,
  AttemptOpening,
  GivenUp,
  JobEndingNote,
  JobIdentity,
} from "@leasehold/job";

/** What a caller may choose about it. */
export interface MemoryAttemptLedgerOptions {
  /**
   * How many jobs are remembered, 1 to 1,000,000; the one that was heard of least lately is forgotten
   * first, and starts afresh.
   * @defaultValue 10_000: some megabytes, and more jobs than one worker has in trouble at a time
   */
  readonly maxJobs?: number;
}

const DEFAULT_JOBS = 10_000;
const MOST_JOBS = 1_000_000;

/** One job's record. */
interface Record {
  readonly failures: number;
  readonly interruptions: number;
  readonly putOffs: number;
  /** Starts that no ending has followed. */
  readonly openStarts: number;
  readonly givenUp?: GivenUp;
  readonly messageId: string;
}

/**
 * Remembers attempts as long as this process lives, for tests, a laptop, or a service of one worker:
 * each of several counts for itself, so that a job has the budgets of all of them together, and what
 * died with its worker is not there to be counted.
 *
 * @throws RangeError when `maxJobs` is out of range
 */
export function memoryAttemptLedger(options: MemoryAttemptLedgerOptions = {}): AttemptLedger {
  const { maxJobs = DEFAULT_JOBS } = options;
  if (!Number.isInteger(maxJobs) || maxJobs < 1 || maxJobs > MOST_JOBS) {
    throw new RangeError(
      `maxJobs must be a whole number between 1 and ${MOST_JOBS}, got ${maxJobs}`,
    );
  }
  return new MemoryAttemptLedger(maxJobs);
}

class MemoryAttemptLedger implements AttemptLedger {
  readonly #maxJobs: number;
  /** The one that was heard of least lately comes first. */
  readonly #records = new Map<string, Record>();

  constructor(maxJobs: number) {
    this.#maxJobs = maxJobs;
  }

  open(delivery: AttemptDelivery): AttemptOpening {
    const isFirst = delivery.receiveCount <= 1;
    if (isFirst) return this.#opening(delivery, NOTHING_YET, 0);
    const record = this.#recordOf(delivery);
    if (record.givenUp !== undefined) return { kind: "dead", reason: record.givenUp };
    this.#keep(delivery, { ...record, openStarts: record.openStarts + 1 });
    return this.#opening(delivery, historyOf(record), 1);
  }

  #opening(delivery: AttemptDelivery, history: AttemptHistory, starts: 0 | 1): AttemptOpening {
    return {
      kind: "open",
      history,
      end: (ending) => {
        this.#end(delivery, ending, starts);
        return undefined;
      },
    };
  }

  #end(delivery: AttemptDelivery, ending: JobEndingNote, starts: 0 | 1): void {
    if (ending.kind === "succeeded") {
      this.#records.delete(keyOf(delivery.job));
      return;
    }
    if (ending.kind === "uncounted" && starts === 0) return;
    const record = this.#recordOf(delivery);
    const openStarts = Math.max(0, record.openStarts - starts);
    this.#keep(delivery, { ...ended(record, ending), openStarts });
  }

  #recordOf({ job, messageId }: AttemptDelivery): Record {
    const record = this.#records.get(keyOf(job));
    const isSentAgain = record?.givenUp !== undefined && record.messageId !== messageId;
    return record === undefined || isSentAgain ? { ...NO_RECORD, messageId } : record;
  }

  #keep({ job, messageId }: AttemptDelivery, record: Record): void {
    const key = keyOf(job);
    this.#records.delete(key);
    this.#records.set(key, { ...record, messageId });
    if (this.#records.size <= this.#maxJobs) return;
    for (const oldest of this.#records.keys()) {
      this.#records.delete(oldest);
      return;
    }
  }
}

const NO_RECORD = { failures: 0, interruptions: 0, putOffs: 0, openStarts: 0 } as const;
const NOTHING_YET: AttemptHistory = { failures: 0, interruptions: 0, crashes: 0, putOffs: 0 };

function historyOf({ failures, interruptions, putOffs, openStarts }: Record): AttemptHistory {
  return { failures, interruptions, putOffs, crashes: openStarts };
}

function ended(record: Record, ending: JobEndingNote): Record {
  switch (ending.kind) {
    case "failed":
      return { ...record, failures: record.failures + 1 };
    case "interrupted":
      return { ...record, interruptions: record.interruptions + 1 };
    case "put-off":
      return { ...record, putOffs: record.putOffs + 1 };
    case "given-up":
      return { ...record, givenUp: ending.reason };
    case "succeeded":
    case "uncounted":
      return record;
  }
}

/** Ids hold no control characters, so nothing in them looks like the gap between two. */
function keyOf({ tenantId, jobType, jobId }: JobIdentity): string {
  return `${tenantId}\n${jobType}\n${jobId}`;
}
