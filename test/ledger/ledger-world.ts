/** A whole worker with a job ledger in memory, whose store and provider a test can look into. */

import {
  createLedger,
  type JobRecord,
  type LedgerStore,
  type LedgerWrite,
  MemoryLedgerStore,
  StoreUnavailableError,
  type WriteAnswer,
} from "@leasehold/idempotency";
import {
  type Effect,
  type JobIdentity,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import type { LeaseQueue } from "@leasehold/lease";
import {
  openWorld,
  type TestHandler,
  type World,
  type WorldOptions,
} from "../support/worker-world.ts";

/** A store that counts, and does not answer where it is told to. */
export class WatchedStore implements LedgerStore {
  readonly #inner = new MemoryLedgerStore();
  /** Names of the writes that reached it. */
  readonly writes: string[] = [];
  reads = 0;
  isDown: (write: LedgerWrite | undefined) => boolean = () => false;

  async write(write: LedgerWrite): Promise<WriteAnswer> {
    if (this.isDown(write)) throw new StoreUnavailableError(write.name);
    this.writes.push(write.name);
    return await this.#inner.write(write);
  }

  async read(job: JobIdentity): Promise<JobRecord | undefined> {
    if (this.isDown(undefined)) throw new StoreUnavailableError("read");
    this.reads += 1;
    return await this.#inner.read(job);
  }

  async listParked(query: Parameters<LedgerStore["listParked"]>[0]) {
    return await this.#inner.listParked(query);
  }

  /** The record of a job of the world, without a trace. */
  async recordOf(n: number): Promise<JobRecord | undefined> {
    return await this.#inner.read(jobOf(n));
  }
}

/** The job with that number. */
export function jobOf(n: number): JobIdentity {
  return {
    tenantId: parseTenantId("acme"),
    jobId: parseJobId(`job-${n}`),
    jobType: parseJobType("test.work"),
  };
}

/** A world with a ledger, and a provider that says how often each job was charged. */
export interface LedgerWorld extends World {
  readonly store: WatchedStore;
  /** Provider keys of the charges that were applied. */
  readonly charges: string[];
  /** The worker whose calls and writes go nowhere any more, as if its process were gone. */
  kill(): void;
}

/** Opens it and starts the worker; only the first worker can be killed. */
export async function openLedgerWorld(options: WorldOptions = {}): Promise<LedgerWorld> {
  const store = new WatchedStore();
  let workers = 0;
  let isDead = false;
  const world = await openWorld({
    ...options,
    ledger: (clock) => {
      workers += 1;
      const isFirst = workers === 1;
      return createLedger({
        store: isFirst ? mortal(store, () => isDead) : store,
        ...{ clock, environment: "test", workerId: `w-${workers}`, random: () => 0.5 },
      });
    },
    wrapQueue: (queue) => mortalQueue(queue, () => isDead),
  });
  void world.worker.start();
  await world.clock.settle();
  const kill = () => {
    isDead = true;
  };
  return { ...world, store, charges: [], kill };
}

/** An effect that charges at the world's provider. */
export function charge(
  world: { readonly charges: string[] },
  changes: Partial<Effect<{ readonly id: string }>> = {},
): Effect<{ readonly id: string }> {
  return {
    timeoutMs: 1_000,
    recover: { kind: "replay", windowMs: 86_400_000, after: { kind: "park" } },
    run: async ({ key }) => {
      if (!world.charges.includes(key)) world.charges.push(key);
      return { id: `ch_${world.charges.length}` };
    },
    reference: ({ id }) => id,
    ...changes,
  };
}

/** A second worker of the world, started. */
export async function startAnother(world: World, handler: TestHandler) {
  const other = world.another(handler);
  void other.worker.start();
  await world.clock.settle();
  return other;
}

function never(): Promise<never> {
  return new Promise(() => {});
}

function mortal(store: LedgerStore, isDead: () => boolean): LedgerStore {
  return {
    write: (write) => (isDead() ? never() : store.write(write)),
    read: (job) => (isDead() ? never() : store.read(job)),
    listParked: (query) => store.listParked(query),
  };
}

function mortalQueue(queue: LeaseQueue, isDead: () => boolean): LeaseQueue {
  const { name, fifo, hasDeadLetterQueue, url } = queue;
  return {
    ...{ name, fifo, hasDeadLetterQueue, url },
    receive: (request) => (isDead() ? never() : queue.receive(request)),
    changeVisibility: (entries) => (isDead() ? never() : queue.changeVisibility(entries)),
    delete: (handles) => (isDead() ? never() : queue.delete(handles)),
    deadLetter: (copy) => (isDead() ? never() : queue.deadLetter(copy)),
  };
}
