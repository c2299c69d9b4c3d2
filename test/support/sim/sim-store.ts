/** The store of a simulation: slow, throttled, with lost and late writes, and every write judged. */

import {
  type JobRecord,
  type LedgerStore,
  type LedgerWrite,
  MemoryLedgerStore,
  type ParkedPage,
  type ParkedQuery,
  StoreUnavailableError,
  type WriteAnswer,
} from "@leasehold/idempotency";
import type { JobIdentity } from "@leasehold/job";
import type { Chance } from "./chance.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimProcess } from "./sim-process.ts";

/** How often which fault comes, as shares of the writes. */
export interface StoreBehaviour {
  readonly throttled: number;
  readonly replyLost: number;
  /** Not answered, and made a good while later. */
  readonly landsLate: number;
  /** Whether an answer can be lost again when the same write is repeated, and come slowly. */
  readonly loses: "once" | "again";
}

/** The one store behind all processes. */
export class SimStore {
  readonly memory = new MemoryLedgerStore();
  /** Hears of each write that was made. */
  onMade: (write: LedgerWrite, before: JobRecord | undefined, after: JobRecord) => void = () => {};
  lostReplies = 0;
  readonly #lost = new WeakSet<LedgerWrite>();
  readonly #clock: SimClock;
  readonly #chance: Chance;
  #behaviour: StoreBehaviour;

  constructor(clock: SimClock, chance: Chance, behaviour: StoreBehaviour) {
    this.#clock = clock;
    this.#chance = chance;
    this.#behaviour = behaviour;
  }

  /** From now on nothing happens to its requests. */
  calm(): void {
    this.#behaviour = { throttled: 0, replyLost: 0, landsLate: 0, loses: "once" };
  }

  /** The store as one process sees it; `tripped` is told of each request, before it leaves. */
  seenBy(process: SimProcess, tripped: (write: LedgerWrite) => void): LedgerStore {
    return {
      write: (write) => {
        tripped(write);
        return process.gate(this.#write(write));
      },
      read: (job) => process.gate(this.#read(job)),
      listParked: (query) => process.gate(this.listParked(query)),
    };
  }

  async listParked(query: ParkedQuery): Promise<ParkedPage> {
    await this.#clock.sleep(5);
    return await this.memory.listParked(query);
  }

  async #read(job: JobIdentity): Promise<JobRecord | undefined> {
    await this.#clock.sleep(this.#chance.between(1, 20));
    return await this.memory.read(job);
  }

  async #write(write: LedgerWrite): Promise<WriteAnswer> {
    const chance = this.#chance;
    const { throttled, replyLost, landsLate, loses } = this.#behaviour;
    const drawn = chance.next();
    const isSlow = loses === "again" && chance.isHit(0.02);
    await this.#clock.sleep(isSlow ? 1_500 : chance.between(1, 20));
    if (drawn < throttled) throw new StoreUnavailableError(write.name);
    if (drawn < throttled + landsLate) {
      void this.#clock.sleep(chance.between(1_000, 90_000)).then(() => this.#make(write));
      throw new StoreUnavailableError(write.name);
    }
    const answer = await this.#make(write);
    await this.#clock.sleep(chance.between(1, 20));
    const isSpared = loses === "once" && this.#lost.has(write);
    if (drawn < throttled + landsLate + replyLost && !isSpared) {
      this.#lost.add(write);
      this.lostReplies += 1;
      throw new StoreUnavailableError(write.name);
    }
    return answer;
  }

  async #make(write: LedgerWrite): Promise<WriteAnswer> {
    const before = await this.memory.read(write.job);
    const answer = await this.memory.write(write);
    const after = await this.memory.read(write.job);
    if (after !== undefined && after !== before) this.onMade(write, before, after);
    return answer;
  }
}
