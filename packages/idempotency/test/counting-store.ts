/** A ledger store that counts its requests, and fails where it is told to. */

import type { JobIdentity } from "@leasehold/job";
import {
  type JobRecord,
  type LedgerStore,
  type LedgerWrite,
  MemoryLedgerStore,
  type ParkedPage,
  type ParkedQuery,
  StoreUnavailableError,
  type WriteAnswer,
} from "../index.ts";

/** What happens to one request: the store never gets it, or its answer is lost. */
export type StoreFault = "refused" | "reply-lost";

/** Counts by write; faults are asked for each request. */
export class CountingStore implements LedgerStore {
  /** May be swapped, as a restore from a backup does. */
  inner: LedgerStore;
  /** Names of the writes that reached the store, in their order. */
  readonly writes: string[] = [];
  reads = 0;
  /** Asked for each write; `undefined` lets it through. */
  fault: (write: LedgerWrite) => StoreFault | undefined = () => undefined;

  constructor(inner: LedgerStore = new MemoryLedgerStore()) {
    this.inner = inner;
  }

  async write(write: LedgerWrite): Promise<WriteAnswer> {
    const fault = this.fault(write);
    if (fault === "refused") throw new StoreUnavailableError(write.name);
    this.writes.push(write.name);
    const answer = await this.inner.write(write);
    if (fault === "reply-lost") throw new StoreUnavailableError(write.name);
    return answer;
  }

  async read(job: JobIdentity): Promise<JobRecord | undefined> {
    this.reads += 1;
    return await this.inner.read(job);
  }

  async listParked(query: ParkedQuery): Promise<ParkedPage> {
    return await this.inner.listParked(query);
  }
}
