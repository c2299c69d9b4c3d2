/** The service, wired: stores, render pool and jobs, from its configuration. */

import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { systemClock } from "@leasehold/clock";
import { folderPayloadStore } from "@leasehold/job";
import type { WorkerProcessParts } from "leasehold";
import type { AwsConfig, BillingConfig } from "./config.ts";
import { invoicesTable } from "./contract.ts";
import { DynamoDbInvoiceStore } from "./invoice/dynamodb-invoice-store.ts";
import { billingJobs } from "./job-list.ts";
import { StripePaymentProvider } from "./payment/stripe-payment-provider.ts";
import { FolderReceiptStore } from "./receipt/folder-receipt-store.ts";
import { startRenderPool } from "./receipt/render-pool.ts";

const CONNECT_TIMEOUT_MS = 1_000;
/** DynamoDB answers within tens of milliseconds; three attempts of this still fit a drain. */
const REQUEST_TIMEOUT_MS = 2_000;

/** Everything that runs this service as a process; nothing is asked of AWS yet. */
export async function billingWorker(config: BillingConfig): Promise<WorkerProcessParts> {
  const { contract, aws, admin, version, extender, ecsAgentUri, ledgerFolder } = config;
  const dynamoDb = dynamoDbClient(aws);
  const invoices = new DynamoDbInvoiceStore(dynamoDb, invoicesTable.tableName);
  const receipts = new FolderReceiptStore(config.receiptsFolder);
  await receipts.removeLeftovers(systemClock);
  const payments = new StripePaymentProvider(config.payments, systemClock);
  const renderPool = startRenderPool({
    threads: config.renderThreads,
    atLeastMs: config.renderAtLeastMs,
  });
  return {
    ...{ contract, admin, version, extender },
    ledger: {
      ...{ kind: "dynamodb", client: dynamoDb, environment: config.environment },
      ...(ledgerFolder === undefined ? {} : { results: folderPayloadStore(ledgerFolder) }),
      options: { restoredAtMs: config.ledgerRestoredAtMs ?? 0 },
    },
    jobs: billingJobs({ invoices, receipts, renderPool, payments }),
    sqs: {
      region: aws.region,
      ...(aws.sqsEndpoint === undefined ? {} : { endpoint: aws.sqsEndpoint }),
    },
    ...(ecsAgentUri === undefined ? {} : { taskProtection: { agentUri: ecsAgentUri } }),
    checkDependencies: () => invoices.assertReachable(),
    log: { level: config.logLevel },
    dispose: async () => {
      await renderPool[Symbol.asyncDispose]();
      dynamoDb.destroy();
    },
  };
}

function dynamoDbClient({ region, dynamoDbEndpoint }: AwsConfig): DynamoDBClient {
  return new DynamoDBClient({
    region,
    ...(dynamoDbEndpoint === undefined ? {} : { endpoint: dynamoDbEndpoint }),
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
}
