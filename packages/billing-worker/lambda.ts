/** The function: `lambda.handler`, for an SQS event source with `ReportBatchItemFailures`. */

import type { SqsLambdaHandler } from "@leasehold/middy";
import { billingLambda } from "./billing-lambda.ts";
import { readConfig } from "./config.ts";

/** What Lambda calls; its sandbox does not start while queues, tables or configuration are wrong. */
export const handler: SqsLambdaHandler = (await billingLambda(readConfig())).handler;
