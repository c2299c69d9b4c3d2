/** One DynamoDB with a table for each guard, as each of them wants its table. */

import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { clientFor, openLedgerTable } from "../support/ledger-table.ts";

/** Where the guards keep their records. */
export interface GuardTables extends AsyncDisposable {
  readonly endpoint: string;
  readonly names: GuardTableNames;
}

/** Names of the tables. */
export interface GuardTableNames {
  readonly leasehold: string;
  readonly powertools: string;
}

const POWERTOOLS_TABLE = "powertools-idempotency";

/** Makes both tables in one embedded store. */
export async function openGuardTables(): Promise<GuardTables> {
  const ledger = await openLedgerTable();
  const client = clientFor(ledger.endpoint);
  // As its documentation shows it: one key, named `id`.
  const create = new CreateTableCommand({
    TableName: POWERTOOLS_TABLE,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  });
  await client.send(create);
  client.destroy();
  return {
    endpoint: ledger.endpoint,
    names: { leasehold: ledger.tableName, powertools: POWERTOOLS_TABLE },
    [Symbol.asyncDispose]: () => ledger.close(),
  };
}
