/** The ledger store in memory. */

import type { JobIdentity } from "@leasehold/job";
import { holds, isMade, patched } from "./apply-write.ts";
import type { JobRecord } from "./ledger-record.ts";
import type {
  LedgerStore,
  LedgerWrite,
  ParkedPage,
  ParkedQuery,
  WriteAnswer,
} from "./ledger-store.ts";

/** Keeps records for as long as this process lives; for tests and for workers on a laptop. */
export class MemoryLedgerStore implements LedgerStore {
  readonly #records = new Map<string, JobRecord>();

  async write(write: LedgerWrite): Promise<WriteAnswer> {
    const key = keyOf(write.job);
    const record = this.#records.get(key);
    if (holds(record, write.condition)) {
      const next = freeze(patched(record, write.job, structuredClone(write.patch)));
      this.#records.set(key, next);
      return { kind: "applied", ...(write.returnsRecord === true && { record: next }) };
    }
    if (record !== undefined && isMade(record, write)) return { kind: "applied", record };
    return { kind: "refused", record };
  }

  async read(job: JobIdentity): Promise<JobRecord | undefined> {
    return this.#records.get(keyOf(job));
  }

  async listParked({ tenantId, limit, after = "0" }: ParkedQuery): Promise<ParkedPage> {
    const parked = [...this.#records.values()]
      .filter((record) => record.parked !== undefined)
      .filter((record) => tenantId === undefined || record.tenantId === tenantId)
      .sort((a, b) => (a.parked?.atMs ?? 0) - (b.parked?.atMs ?? 0));
    const from = Number(after);
    const records = parked.slice(from, from + limit);
    const next = from + limit;
    return { records, ...(next < parked.length && { next: String(next) }) };
  }
}

function keyOf({ tenantId, jobType, jobId }: JobIdentity): string {
  return JSON.stringify([tenantId, jobType, jobId]);
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
