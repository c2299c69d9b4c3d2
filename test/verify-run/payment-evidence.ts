/** What a finished run left of its charges, read from outside: the provider's file and the ledger. */

import { type DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";

/** One charge as the provider has it. */
export interface ChargeEvidence {
  readonly tenantId: string;
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
}

/** One record of the job ledger. */
export interface LedgerEvidence {
  readonly tenantId: string;
  readonly jobType: string;
  readonly jobId: string;
  readonly state: string;
  /** State of each effect, and what came of it: `DONE ok`. */
  readonly effects: Readonly<Record<string, string>>;
}

const EFFECT_PREFIX = "fx:";

/** Every record of the ledger, by a scan and not by the ledger's own store. */
export async function readLedger(
  client: DynamoDBClient,
  tableName: string,
): Promise<readonly LedgerEvidence[]> {
  const records: LedgerEvidence[] = [];
  const input = { TableName: tableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, input)) {
    for (const item of Items) {
      const effects = Object.entries(item)
        .filter(([name]) => name.startsWith(EFFECT_PREFIX))
        .map(([name, { M = {} }]) => {
          const outcome = `${M["s"]?.S ?? "?"} ${M["o"]?.S ?? ""}`.trim();
          return [name.slice(EFFECT_PREFIX.length), outcome] as const;
        });
      records.push({
        tenantId: item["tenantId"]?.S ?? "",
        jobType: item["jobType"]?.S ?? "",
        jobId: item["jobId"]?.S ?? "",
        state: item["state"]?.S ?? "",
        effects: Object.fromEntries(effects),
      });
    }
  }
  return records;
}
