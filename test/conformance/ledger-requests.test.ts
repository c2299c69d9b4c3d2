/** The ledger on DynamoDB by HTTP: what jobs cost in requests, and what lost answers do to them. */

import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@leasehold/clock";
import { createLedger, DynamodbLedgerStore, type Ledger } from "@leasehold/idempotency";
import {
  type Effect,
  type OpenJob,
  type OpenRequest,
  park,
  parseJobId,
  parseJobType,
  parseTenantId,
} from "@leasehold/job";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { clientFor, type LedgerTable, openLedgerTable } from "../support/ledger-table.ts";

let table: LedgerTable;
let jobs = 0;

beforeAll(async () => {
  table = await openLedgerTable();
});

afterAll(async () => {
  await table.close();
});

const charge: Effect<{ id: string }> = {
  timeoutMs: 1_000,
  recover: park(),
  run: async () => ({ id: "ch_1" }),
};

function requestOf(more: Partial<OpenRequest> = {}): OpenRequest {
  const surroundings = {
    leaseUntilMs: () => systemClock.wallMs() + 60_000,
    leaseRemainingMs: () => 60_000,
    reach: async () => true,
    drainRemainingMs: () => undefined,
    signal: new AbortController().signal,
    copyMessage: () => ({ queue: "jobs", body: "{}", attributes: {} }),
    createdAtMs: systemClock.wallMs(),
    payload: {},
  };
  const job = {
    tenantId: parseTenantId("acme"),
    jobType: parseJobType("payment.capture"),
    jobId: parseJobId(`invoice-${jobs}`),
  };
  return { job, messageId: "m-1", receiveCount: 1, surroundings, ...more };
}

function ledgerAt(client = table.client): Ledger {
  jobs += 1;
  const store = new DynamodbLedgerStore({ client, tableName: table.tableName, clock: systemClock });
  return createLedger({ store, clock: systemClock, environment: "test", workerId: "w-1" });
}

async function openAt(ledger: Ledger, more: Partial<OpenRequest> = {}): Promise<OpenJob> {
  const opening = await ledger.open(requestOf(more));
  if (opening.kind !== "open") throw new Error(`the job is ${opening.kind}`);
  return opening;
}

async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = table.requests();
  await work();
  return table.requests() - before;
}

/** In front of the table: each write is made, and the first answer to it never comes back. */
async function losingProxy(): Promise<{ endpoint: string; lost: () => number }> {
  const seen = new Set<string>();
  const server: Server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method, headers, url } = incoming;
      const forward = request(`${table.endpoint}${url}`, { method, headers }, (answer) => {
        const isFirst = !seen.has(body.toString());
        seen.add(body.toString());
        if (isFirst) {
          answer.resume();
          answer.on("end", () => outgoing.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      forward.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, lost: () => seen.size };
}

describe("a job in the ledger on DynamoDB", () => {
  test("costs nothing without effects, two requests with one that is its last", async () => {
    const ledger = ledgerAt();
    const plain = await costOf(async () => {
      const opened = await openAt(ledger);
      await opened.end({ kind: "succeeded" });
    });
    const single = await costOf(async () => {
      const opened = await openAt(ledger);
      await opened.once("charge", 7, { ...charge, last: true });
      await opened.end({ kind: "succeeded" });
    });
    expect([plain, single]).toEqual([0, 2]);
  });

  test("costs two requests for each effect and one for its end", async () => {
    const ledger = ledgerAt();
    const cost = await costOf(async () => {
      const opened = await openAt(ledger);
      for (const name of ["a", "b", "c"]) await opened.once(name, 7, charge);
      expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    });
    expect(cost).toBe(7);
  });

  test.each([1, 2, 3])(
    "costs twice as many requests as its %i effects when the last one says so",
    async (effects) => {
      const ledger = ledgerAt();
      const cost = await costOf(async () => {
        const opened = await openAt(ledger);
        for (let n = 1; n <= effects; n += 1) {
          await opened.once(`effect-${n}`, 7, { ...charge, last: n === effects });
        }
        expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
      });
      expect(cost).toBe(2 * effects);
    },
  );

  test("costs nothing for a finished effect that is asked for again, in this run or the next", async () => {
    const ledger = ledgerAt();
    const opened = await openAt(ledger);
    await opened.once("charge", 7, charge);
    const again = await costOf(() => opened.once("charge", 7, charge));
    const next = await openAt(ledger, { receiveCount: 2 });
    const replayed = await costOf(() => next.once("charge", 7, charge));
    expect([again, replayed]).toEqual([0, 0]);
  });

  test("costs one request for each extension of its lease once it has a record", async () => {
    const ledger = ledgerAt();
    const opened = await openAt(ledger);
    await opened.once("charge", 7, charge);
    const extensions = await costOf(async () => {
      for (let n = 0; n < 3; n += 1) await opened.heartbeat(systemClock.wallMs() + 60_000);
    });
    expect(extensions).toBe(3);
  });

  test("is done before the handler's next statement, so that a kill a second later leaves it done", async () => {
    const ledger = ledgerAt();
    const opened = await openAt(ledger);
    await opened.once("charge", 7, { ...charge, last: true });
    // Nothing of this run comes after that: another worker finds what is stored.
    const { client, tableName } = table;
    const store = new DynamodbLedgerStore({ client, tableName, clock: systemClock });
    const record = await store.read(requestOf().job);
    expect(record).toMatchObject({ state: "done", effects: { charge: { state: "done" } } });
  });

  test("costs a duplicate two requests where a refusal carries no item, and is done", async () => {
    const ledger = ledgerAt();
    const opened = await openAt(ledger);
    await opened.once("charge", 7, { ...charge, last: true });
    const duplicate = await costOf(async () => {
      const opening = await ledger.open(requestOf({ messageId: "m-2", guard: true }));
      expect(opening).toEqual({ kind: "done" });
    });
    expect(duplicate).toBe(2);
  });

  test("goes through although the first answer to each of its writes is lost", async () => {
    const { endpoint, lost } = await losingProxy();
    const client = clientFor(endpoint);
    onTestFinished(() => client.destroy());
    const ledger = ledgerAt(client);
    const opened = await openAt(ledger, { guard: true });
    expect(await opened.once("charge", 7, charge)).toEqual({ id: "ch_1" });
    await opened.checkpoint.save({ page: 1 });
    expect(await opened.end({ kind: "succeeded" })).toEqual({ kind: "recorded" });
    // open, start, complete, checkpoint, finish, and the reads that prove them.
    expect(lost()).toBeGreaterThanOrEqual(5);
    const again = await ledger.open(requestOf({ messageId: "m-2", guard: true }));
    expect(again).toEqual({ kind: "done" });
  });

  test("is down when nothing answers, after the time that a request may take", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const client = clientFor(`http://127.0.0.1:${port}`);
    onTestFinished(() => client.destroy());
    const { tableName } = table;
    const ledger = createLedger({
      store: new DynamodbLedgerStore({
        client,
        tableName,
        clock: systemClock,
        requestTimeoutMs: 50,
      }),
      ...{ clock: systemClock, environment: "test", workerId: "w-1" },
      options: { writePatienceMs: 200 },
    });
    expect(await ledger.open(requestOf({ guard: true }))).toEqual({ kind: "store-down" });
  });
});
