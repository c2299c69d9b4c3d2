/** A ledger's table at an endpoint, made as the contract says, and a client that counts. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { defineContract, tableSettings } from "@leasehold/deployment-contract";
import { provision, startLocalAws } from "@leasehold/local-aws";

/** A table and what it takes to use it. */
export interface LedgerTable {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Where it is. */
  readonly endpoint: string;
  /** Requests that left for it so far, retries of the SDK included. */
  requests(): number;
  close(): Promise<void>;
}

const contract = defineContract({
  preset: "default-30",
  service: "billing",
  queues: [{ name: "jobs" }],
  ledger: { kind: "dynamodb" },
});

/** Makes the table, in this process by dynalite unless an endpoint is named. */
export async function openLedgerTable(endpoint?: string): Promise<LedgerTable> {
  const aws = await startLocalAws({ mode: "embedded" });
  const at = endpoint ?? aws.dynamodbEndpoint;
  const client = clientFor(at);
  await provision({ contract, clients: { sqs: aws.sqs, dynamodb: client } });
  let requests = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      requests += 1;
      return await next(args);
    },
    { step: "finalizeRequest", name: "countRequests", priority: "low" },
  );
  const close = async () => {
    client.destroy();
    await aws.close();
  };
  const tableName = tableSettings(contract)?.tableName ?? "";
  return { client, tableName, endpoint: at, requests: () => requests, close };
}

/** A client that goes there, with credentials that nobody checks. */
export function clientFor(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new DynamoDBClient({ endpoint, region: "us-east-1", credentials });
}
