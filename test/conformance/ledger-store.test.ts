/** The ledger store in memory, on dynalite by HTTP, on moto, and wherever the environment says. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { systemClock } from "@leasehold/clock";
import { defineContract, tableSettings } from "@leasehold/deployment-contract";
import { DynamodbLedgerStore, MemoryLedgerStore } from "@leasehold/idempotency";
import { provision, startLocalAws } from "@leasehold/local-aws";
import { test } from "vitest";
import { hasMotoServer, startMotoServer } from "../support/moto-server.ts";
import { describeLedgerStore, type LedgerStoreUnderTest } from "./ledger-store.ts";

const contract = defineContract({
  preset: "default-30",
  service: "billing",
  queues: [{ name: "jobs" }],
  ledger: { kind: "dynamodb" },
});

/** The store on a table that was made as the contract says; `endpoint` beside the embedded one. */
async function onDynamodb(
  refusalCosts: 1 | 2,
  endpoint?: string,
  closeEndpoint: () => Promise<void> = async () => {},
): Promise<LedgerStoreUnderTest> {
  const aws = await startLocalAws({ mode: "embedded" });
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const client = new DynamoDBClient({
    endpoint: endpoint ?? aws.dynamodbEndpoint,
    region: "us-east-1",
    credentials,
  });
  await provision({ contract, clients: { sqs: aws.sqs, dynamodb: client } });
  let requests = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      requests += 1;
      return await next(args);
    },
    { step: "finalizeRequest", name: "countRequests", priority: "low" },
  );
  const tableName = tableSettings(contract)?.tableName ?? "";
  const store = new DynamodbLedgerStore({ client, tableName, clock: systemClock });
  const close = async () => {
    client.destroy();
    await aws.close();
    await closeEndpoint();
  };
  return { store, requests: () => requests, refusalCosts, histories: 25, close };
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
    refusalCosts: 1,
    histories: 500,
    close: async () => {},
  };
});

describeLedgerStore("dynalite", () => onDynamodb(2));

const named = process.env["AWS_ENDPOINT_URL_DYNAMODB"];
if (named !== undefined && named !== "") {
  describeLedgerStore(`DynamoDB at ${named}`, () => onDynamodb(1, named));
}

if (hasMotoServer()) {
  describeLedgerStore("moto", async () => {
    const moto = await startMotoServer();
    return await onDynamodb(1, moto.endpoint, moto.close);
  });
} else {
  test("says aloud that moto is not here", () => {
    console.warn("moto_server is not installed: the ledger store was not run on it");
  });
}
