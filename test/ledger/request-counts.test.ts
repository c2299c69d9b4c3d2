/** What jobs cost in requests to DynamoDB, by HTTP, with the whole worker before them. */

import {
  createLedger,
  DynamodbLedgerStore,
  type LedgerStore,
  type LedgerWrite,
} from "@leasehold/idempotency";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LedgerTable, openLedgerTable } from "../support/ledger-table.ts";
import { hasMotoServer, startMotoServer } from "../support/moto-server.ts";
import { openWorld, type TestHandler, type World } from "../support/worker-world.ts";
import { charge, jobOf } from "./ledger-world.ts";

const NOTHING_LEFT = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

/** Lets a test wait until nothing is on its way to DynamoDB, which knows no manual clock. */
function tracked(store: LedgerStore) {
  const underWay = new Set<Promise<unknown>>();
  const track = <Answer>(call: Promise<Answer>): Promise<Answer> => {
    const over = call.then(
      () => {},
      () => {},
    );
    underWay.add(over);
    void over.then(() => underWay.delete(over));
    return call;
  };
  return {
    underWay,
    store: {
      write: (write: LedgerWrite) => track(store.write(write)),
      read: (job: Parameters<LedgerStore["read"]>[0]) => track(store.read(job)),
      listParked: store.listParked.bind(store),
    },
  };
}

interface Counted extends World {
  readonly charges: string[];
  readonly n: number;
  /** Moves time on by so much, each request answered at once. */
  pass(durationMs: number): Promise<void>;
  /** Sends the job, waits until its message is gone, and says what that cost. */
  cost(): Promise<number>;
  /** What the ledger says of the job, from outside. */
  record(): ReturnType<LedgerStore["read"]>;
}

let jobs = 0;

async function openCounted(table: LedgerTable, handler: (world: Counted) => TestHandler) {
  jobs += 1;
  const n = jobs;
  const { client, tableName } = table;
  const calls = new Set<Set<Promise<unknown>>>();
  const world: World = await openWorld({
    handler: (job, context) => handler(counted)(job, context),
    ledger: (clock) => {
      const { store, underWay } = tracked(new DynamodbLedgerStore({ client, tableName, clock }));
      calls.add(underWay);
      return createLedger({ store, clock, environment: "test", workerId: `w-${calls.size}` });
    },
  });
  const { clock, queue } = world;
  const quiet = async () => {
    await clock.settle();
    for (let all = [...calls].flatMap((one) => [...one]); all.length > 0; ) {
      await Promise.all(all);
      await clock.settle();
      all = [...calls].flatMap((one) => [...one]);
    }
  };
  const pass = async (durationMs: number) => {
    for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
      await quiet();
      await clock.advance(100);
    }
    await quiet();
  };
  const counted: Counted = {
    ...world,
    charges: [],
    n,
    pass,
    cost: async () => {
      const before = table.requests();
      await world.send(1, n);
      await pass(2_000);
      expect(queue.counts()).toEqual(NOTHING_LEFT);
      return table.requests() - before;
    },
    record: () => new DynamodbLedgerStore({ client, tableName, clock }).read(jobOf(n)),
  };
  void world.worker.start();
  await clock.settle();
  return counted;
}

/** A job of so many effects. */
function effects(count: number, last: boolean) {
  return (world: Counted): TestHandler =>
    async (_, { once }) => {
      for (let n = 1; n <= count; n += 1) {
        await once(`effect-${n}`, n, { ...charge(world), last: last && n === count });
      }
    };
}

const servers = [
  // A refusal carries no item: it must be read.
  { name: "dynalite", open: () => openLedgerTable(), duplicate: 2 },
  ...(hasMotoServer() ? [{ name: "moto", open: openOnMoto, duplicate: 1 }] : []),
];

async function openOnMoto(): Promise<LedgerTable> {
  const moto = await startMotoServer();
  const table = await openLedgerTable(moto.endpoint);
  return { ...table, close: () => table.close().then(moto.close) };
}

describe.each(servers)("a worker's jobs in the ledger on $name", ({ open, duplicate }) => {
  let table: LedgerTable;
  beforeAll(async () => {
    table = await open();
  }, 60_000);
  afterAll(() => table.close());

  test("cost nothing without effects when they succeed at first", async () => {
    const world = await openCounted(table, () => () => undefined);
    expect(await world.cost()).toBe(0);
  });

  test.each([
    [1, 3],
    [2, 5],
    [3, 7],
  ])("cost, with %i effects, %i requests", async (count, requests) => {
    const world = await openCounted(table, effects(count, false));
    expect(await world.cost()).toBe(requests);
    expect(world.charges).toHaveLength(count);
    expect(await world.record()).toMatchObject({ state: "done" });
  });

  test.each([
    [1, 2],
    [2, 4],
    [3, 6],
  ])("cost, with %i effects whose last one says so, %i requests", async (count, requests) => {
    const world = await openCounted(table, effects(count, true));
    expect(await world.cost()).toBe(requests);
    expect(world.charges).toHaveLength(count);
    expect(await world.record()).toMatchObject({ state: "done" });
  });

  test(`cost, delivered again when they are done, ${duplicate} and no effect`, async () => {
    const world = await openCounted(table, effects(1, true));
    await world.cost();
    expect(await world.cost()).toBe(duplicate);
    expect(world.charges).toHaveLength(1);
  });

  test("cost nothing more for effects that are asked for again", async () => {
    const world = await openCounted(table, (own) => async (_, { once }) => {
      for (let again = 0; again < 3; again += 1) await once("charge", 7, charge(own));
    });
    expect(await world.cost()).toBe(3);
    expect(world.charges).toHaveLength(1);
  });

  test("cost one request for each extension of a lease that only waits", async () => {
    const world = await openCounted(table, (own) => async (_, { once }) => {
      await once("charge", 7, charge(own));
      await new Promise(() => {});
    });
    await world.send(1, world.n);
    await world.pass(1_000);
    const [before, extended] = [table.requests(), world.heard("lease.extended").length];
    await world.pass(30_000);
    const extensions = world.heard("lease.extended").length - extended;
    expect(extensions).toBeGreaterThanOrEqual(2);
    expect(table.requests() - before).toBe(extensions);
  });

  test("are done before the next statement of their handler, whatever becomes of it", async () => {
    const states: unknown[] = [];
    const world = await openCounted(table, (own) => async (_, { once }) => {
      await once("charge", 7, { ...charge(own), last: true });
      states.push((await own.record())?.state);
      await new Promise(() => {});
    });
    await world.send(1, world.n);
    await world.pass(1_000);
    for (let tries = 0; states.length === 0 && tries < 100; tries += 1) await world.record();
    expect(states).toEqual(["done"]);
    expect(await world.record()).toMatchObject({ state: "done" });
  });
});

if (!hasMotoServer()) {
  test("says aloud that moto is not here", () => {
    console.warn("moto_server is not installed: what a worker's jobs cost on it was not counted");
  });
}
