/** The ledger store in memory, on dynalite by HTTP, on moto, and wherever the environment says. */

import { systemClock } from "@leasehold/clock";
import { DynamodbLedgerStore, MemoryLedgerStore } from "@leasehold/idempotency";
import { test } from "vitest";
import { openLedgerTable } from "../support/ledger-table.ts";
import { hasMotoServer, startMotoServer } from "../support/moto-server.ts";
import { describeLedgerStore, type LedgerStoreUnderTest } from "./ledger-store.ts";

/** The store on a table that was made as the contract says; `endpoint` beside the embedded one. */
async function onDynamodb(
  refusalCosts: readonly number[],
  endpoint?: string,
  closeEndpoint: () => Promise<void> = async () => {},
): Promise<LedgerStoreUnderTest> {
  const { client, tableName, requests, close } = await openLedgerTable(endpoint);
  const store = new DynamodbLedgerStore({ client, tableName, clock: systemClock });
  const closeAll = () => close().then(closeEndpoint);
  return {
    store,
    requests,
    refusalCosts,
    histories: endpoint === undefined ? 25 : 10,
    close: closeAll,
  };
}

describeLedgerStore("memory", async () => {
  let requests = 0;
  const memory = new MemoryLedgerStore();
  const store = {
    write: (write: Parameters<typeof memory.write>[0]) => {
      requests += 1;
      return memory.write(write);
    },
    read: memory.read.bind(memory),
    listParked: memory.listParked.bind(memory),
  };
  return {
    store,
    requests: () => requests,
    refusalCosts: [1],
    histories: 500,
    close: async () => {},
  };
});

describeLedgerStore("dynalite", () => onDynamodb([2]));

const named = process.env["AWS_ENDPOINT_URL_DYNAMODB"];
if (named !== undefined && named !== "") {
  describeLedgerStore(`DynamoDB at ${named}`, () => onDynamodb([1, 2], named));
}

if (hasMotoServer()) {
  describeLedgerStore("moto", async () => {
    const moto = await startMotoServer();
    return await onDynamodb([1], moto.endpoint, moto.close);
  });
} else {
  test("says aloud that moto is not here", () => {
    console.warn("moto_server is not installed: the ledger store was not run on it");
  });
}
